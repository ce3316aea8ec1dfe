"""Findings, code actions and settings, through the real server process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from nanolint.diagnostics import Edit
from nanolint.lsp.positions import Positions
from nanolint.source.text import apply_edits
from tests.support.editor import capabilities, editing
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.editor import Editor

pytestmark = pytest.mark.asyncio

CONFIG = "config/big.py"
LINES = (
    "# größer 🦜",
    "wandb_run_name = '🦜'; batch_size = 16  # micro-batch",
    "gradient_accumulation_steps = 32  # 🦜",
    "block_size = 1024",
    "",
)
TEXT = "\n".join(LINES)
FIXED = TEXT.replace("= 16 ", "= 8 ").replace("= 32 ", "= 64 ")
SETTINGS = 'gpu = "rtx-3060"\n'
ENCODINGS = (
    types.PositionEncodingKind.Utf8,
    types.PositionEncodingKind.Utf16,
    types.PositionEncodingKind.Utf32,
)


def project(root: Path, text: str = TEXT, settings: str = SETTINGS) -> Path:
    return write_project(root, {CONFIG: text, "nanolint.toml": settings})


async def pushed(editor: Editor, name: str = CONFIG) -> list[types.Diagnostic]:
    """The findings that the server sends for the text that was typed last."""
    found = editor.client.diagnostics
    await editor.until(lambda: editor.uri(name) in found)
    return list(found[editor.uri(name)])


async def pushed_anew(editor: Editor, name: str = CONFIG) -> list[types.Diagnostic]:
    editor.client.diagnostics.pop(editor.uri(name), None)
    return await pushed(editor, name)


async def actions(
    editor: Editor,
    at: types.Range,
    *,
    only: list[types.CodeActionKind | str] | None = None,
    name: str = CONFIG,
) -> list[types.CodeAction]:
    found = await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(editor.uri(name)),
            at,
            types.CodeActionContext([], only=only),
        )
    )
    return [action for action in found or () if isinstance(action, types.CodeAction)]


def applied(text: str, action: types.CodeAction, encoding: str, version: int = 1) -> str:
    """The text with the action's edits, checked to be for this version of the document."""
    assert action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == version
    positions = Positions(text, encoding)
    edits = []
    for edit in change.edits:
        assert isinstance(edit, types.TextEdit)
        start, end = (positions.offset(place) for place in (edit.range.start, edit.range.end))
        edits.append(Edit(start, end, edit.new_text))
    return apply_edits(text, edits)


def by_code(found: list[types.Diagnostic]) -> dict[Any, types.Diagnostic]:
    return {each.code: each for each in found}


EVERYWHERE = types.Range(types.Position(0, 0), types.Position(100, 0))


async def test_a_finding_says_all_that_an_editor_can_show(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        editor.open(CONFIG)
        found = by_code(await pushed(editor))["NL102"]
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.source == "nanolint"
    first, second, *_ = found.message.splitlines()
    assert first.startswith("needs 12.3 of 11.6 GiB; batch_size = 8, gradient")
    assert second == "does not fit RTX 3060 12GB: needs 12.3 of 11.6 GiB (0.7 short)"
    assert found.code_description is not None
    assert found.code_description.href.endswith("/memory/oversized_logits.md")
    related = found.related_information or ()
    lines: dict[str, set[int]] = {}
    for each in related:
        at = lines.setdefault(each.location.uri.rpartition("/")[2], set())
        at.add(each.location.range.start.line)
    assert lines.keys() == {"big.py", "model.py"}
    assert lines["big.py"] == {2}
    assert found.range.start.line == 1


async def test_the_fix_is_in_the_data(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        editor.open(CONFIG)
        data: Any = by_code(await pushed(editor))["NL102"].data
    fix = data["fix"] if isinstance(data, dict) else data.fix
    safety = fix["safety"] if isinstance(fix, dict) else fix.safety
    assert safety == "safe"


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("encoding", ENCODINGS, ids=str)
async def test_the_fix_lands_where_it_should_in_each_encoding(
    tmp_path: Path, encoding: types.PositionEncodingKind, newline: str
) -> None:
    text = TEXT.replace("\n", newline)
    root = project(tmp_path, text)
    async with editing(root, client_capabilities=capabilities(encodings=(encoding,))) as editor:
        editor.open(CONFIG, text)
        found = by_code(await pushed(editor))["NL102"]
        (fix,) = [
            action
            for action in await actions(editor, found.range)
            if action.kind == types.CodeActionKind.QuickFix and action.is_preferred
        ]
    assert applied(text, fix, encoding) == FIXED.replace("\n", newline)
    assert [each.code for each in fix.diagnostics or ()] == ["NL102"]


async def test_a_finding_can_be_ignored_on_its_line(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        editor.open(CONFIG)
        found = by_code(await pushed(editor))["NL102"]
        offered = {action.title: action for action in await actions(editor, found.range)}
        ignore = offered["Ignore NL102 (oversized-logits) on this line"]
        text = applied(TEXT, ignore, types.PositionEncodingKind.Utf16)
        editor.type(CONFIG, text)
        assert "NL102" not in by_code(await pushed_anew(editor))
    assert "ignore[NL102]" in text and text.replace("\n", "").startswith("# größer 🦜")


async def test_all_safe_fixes_at_once(tmp_path: Path) -> None:
    only: list[types.CodeActionKind | str] = [types.CodeActionKind.SourceFixAll]
    text = f"{TEXT}n_layer = 12  # nanolint: ignore[NL999]\n"
    async with editing(project(tmp_path, text)) as editor:
        editor.open(CONFIG)
        await pushed(editor)
        (fix_all,) = await actions(editor, EVERYWHERE, only=only)
        fixed = applied(text, fix_all, types.PositionEncodingKind.Utf16)
        editor.type(CONFIG, fixed)
        assert await actions(editor, EVERYWHERE, only=only) == []
    assert fix_all.kind == "source.fixAll.nanolint"
    assert fixed == f"{FIXED}n_layer = 12\n"


async def test_an_unsafe_fix_is_marked_and_never_preferred(tmp_path: Path) -> None:
    text = "batch_size = 4\nblock_size = 1024\nlearnin_rate = 1e-3\n"
    async with editing(project(tmp_path, text)) as editor:
        editor.open(CONFIG)
        found = by_code(await pushed(editor))["NL301"]
        fix, *_ = await actions(editor, found.range)
    assert fix.title.endswith("(NL301, unsafe)")
    assert not fix.is_preferred


async def test_only_what_is_asked_for_is_offered(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        editor.open(CONFIG)
        await pushed(editor)
        refactor: list[types.CodeActionKind | str] = [types.CodeActionKind.Refactor]
        quick: list[types.CodeActionKind | str] = [types.CodeActionKind.QuickFix]
        assert await actions(editor, EVERYWHERE, only=refactor) == []
        kinds = {each.kind for each in await actions(editor, EVERYWHERE, only=quick)}
        last = types.Range(types.Position(4, 0), types.Position(4, 0))
        away = await actions(editor, last, only=quick)
    assert kinds == {types.CodeActionKind.QuickFix}
    assert away == []


async def test_an_editor_that_knows_no_versions_gets_plain_changes(tmp_path: Path) -> None:
    able = capabilities()
    assert able.workspace is not None
    able.workspace.workspace_edit = None
    async with editing(project(tmp_path), client_capabilities=able) as editor:
        uri = editor.open(CONFIG)
        fix, *_ = await actions(editor, EVERYWHERE)
    assert fix.edit is not None and fix.edit.document_changes is None
    assert fix.edit.changes is not None and list(fix.edit.changes) == [uri]


@pytest.mark.parametrize("refreshes", [True, False], ids=["refreshed", "pulls alone"])
async def test_an_editor_that_pulls_is_not_pushed_to(tmp_path: Path, refreshes: bool) -> None:
    able = capabilities()
    assert able.text_document is not None and able.workspace is not None
    able.text_document.diagnostic = types.DiagnosticClientCapabilities()
    able.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refreshes)
    if not refreshes:
        able.text_document.publish_diagnostics = None
    async with editing(project(tmp_path), client_capabilities=able) as editor:
        uri = editor.open(CONFIG)
        document = types.TextDocumentIdentifier(uri)
        report = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(document)
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert "NL102" in by_code(list(report.items))
        editor.type(CONFIG, "batch_size = 1\nblock_size = 64\n")
        await editor.hints(CONFIG)
        report = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(document)
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert "NL102" not in by_code(list(report.items))
        assert editor.client.diagnostics == {}


async def test_an_editor_that_pulls_but_cannot_be_refreshed_is_pushed_to(tmp_path: Path) -> None:
    able = capabilities()
    assert able.text_document is not None
    able.text_document.diagnostic = types.DiagnosticClientCapabilities()
    able.text_document.publish_diagnostics = types.PublishDiagnosticsClientCapabilities()
    async with editing(project(tmp_path), client_capabilities=able) as editor:
        uri = editor.open(CONFIG)
        assert "NL102" in by_code(await pushed(editor))
        report = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert not report.items, "each finding is shown once"


async def test_deprecated_calls_and_dead_text_are_tagged(tmp_path: Path) -> None:
    script = "import torch\nscaler = torch.cuda.amp.GradScaler()\n"
    text = "batch_size = 4\nblock_size = 64  # nanolint: ignore[NL301]\n"
    async with editing(project(tmp_path, text)) as editor:
        editor.open("tool.py", script)
        deprecated = by_code(await pushed(editor, "tool.py"))["NL401"]
        editor.open(CONFIG)
        dead = by_code(await pushed(editor))["NL002"]
    assert list(deprecated.tags or ()) == [types.DiagnosticTag.Deprecated]
    assert list(dead.tags or ()) == [types.DiagnosticTag.Unnecessary]


async def test_closing_a_document_takes_its_findings_away(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        uri = editor.open(CONFIG)
        assert await pushed(editor)
        editor.client.diagnostics.clear()
        document = types.TextDocumentIdentifier(uri)
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        assert await pushed(editor) == []


async def test_other_python_files_are_left_alone(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        editor.open("tool.py", "batch_size = 512\nprint(batch_size)\n")
        assert await pushed(editor, "tool.py") == []


async def test_a_half_typed_file_shows_its_syntax_error(tmp_path: Path) -> None:
    async with editing(project(tmp_path)) as editor:
        editor.open(CONFIG)
        await pushed(editor)
        editor.type(CONFIG, f"{TEXT}n_layer = (\n")
        (found,) = await pushed_anew(editor)
    assert found.code == "NL001"


@pytest.mark.parametrize("name", ["train.py", "nanolint.toml"])
async def test_a_file_changed_elsewhere_refreshes_what_is_open(tmp_path: Path, name: str) -> None:
    content = {
        "train.py": train_script().replace("n_layer = 12", "n_layer = 1"),
        "nanolint.toml": 'gpu = "h100-80gb"\n',
    }[name]
    async with editing(project(tmp_path)) as editor:
        editor.open(CONFIG)
        assert "NL102" in by_code(await pushed(editor))
        await editor.until(lambda: types.CLIENT_REGISTER_CAPABILITY in editor.asked)
        editor.client.diagnostics.clear()
        editor.save_elsewhere(name, content)
        found = await pushed(editor)
    assert "NL102" not in by_code(found)


async def test_the_settings_that_an_editor_starts_with(tmp_path: Path) -> None:
    options: dict[str, object] = {
        "gpu": "h100-80gb",
        "trace": {"server": "off"},
        "ignore": [],
        "select": None,
    }
    async with editing(project(tmp_path), options=options) as editor:
        editor.open(CONFIG)
        assert "NL102" not in by_code(await pushed(editor))
        editor.client.diagnostics.clear()
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"nanolint": {"gpu": "rtx-3060"}})
        )
        assert "NL102" in by_code(await pushed(editor))
    assert editor.shown == []


async def test_settings_by_folder_are_asked_for(tmp_path: Path) -> None:
    here, there = project(tmp_path / "here"), project(tmp_path / "there")
    able = capabilities()
    assert able.workspace is not None
    able.workspace.configuration = True
    configured = {there.as_uri(): {"ignore": ["NL1"]}}
    async with editing(
        here, client_capabilities=able, folders=(here, there), configuration=configured
    ) as editor:
        uris = [editor.open(str(root / CONFIG)) for root in (here, there)]
        found = editor.client.diagnostics
        await editor.until(
            lambda: (
                all(uri in found for uri in uris)
                and not {"NL102"} & set(by_code(list(found[uris[1]])))
            )
        )
        assert "NL102" in by_code(list(found[uris[0]]))


async def test_an_editor_that_fails_to_watch_files_is_served_with_its_settings(
    tmp_path: Path,
) -> None:
    root = project(tmp_path)
    able = capabilities()
    assert able.workspace is not None
    able.workspace.configuration = True
    configured = {root.as_uri(): {"ignore": ["NL1"]}}
    async with editing(
        root, client_capabilities=able, configuration=configured, registers=False
    ) as editor:
        found, uri = editor.client.diagnostics, editor.open(CONFIG)
        await editor.until(lambda: uri in found and "NL102" not in by_code(list(found[uri])))
    assert types.CLIENT_REGISTER_CAPABILITY in editor.asked
    assert editor.shown == []


async def test_settings_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    async with editing(project(tmp_path, settings="gpu = 3\n")) as editor:
        uri = editor.open(CONFIG)
        await editor.until(lambda: bool(editor.shown) and uri in editor.client.diagnostics)
        assert "nanolint.toml: gpu" in editor.shown[0]
        editor.save_elsewhere("nanolint.toml", SETTINGS)
        assert "NL102" in by_code(await pushed_anew(editor))
