use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Nanolint;

impl zed::Extension for Nanolint {
    fn new() -> Self {
        Self
    }

    /// The `nanolint` of the shell that the project is opened from.
    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree
            .which("nanolint")
            .ok_or("nanolint is not on the PATH; pip install 'nanolint[server]'")?;
        Ok(Command {
            command,
            args: vec!["server".into()],
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(Nanolint);
