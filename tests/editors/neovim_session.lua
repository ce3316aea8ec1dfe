-- What a person does in Neovim, key by key; writes what they saw to $SESSION_OUT, as JSON.
--
-- Runs with the recipe of docs/editors.md as init.lua and config.py open, train.py beside it.

local PATIENCE_MS = 20000

local seen = {}
local config = vim.api.nvim_get_current_buf()

local function finish(failure)
  seen.failure = failure
  vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SESSION_OUT)
  vim.cmd("qall!")
end

local function wait_for(what, condition)
  if not vim.wait(PATIENCE_MS, condition, 20) then
    error("never saw " .. what)
  end
end

local function errors()
  return vim.diagnostic.get(config, { severity = vim.diagnostic.severity.ERROR })
end

local function has_error()
  return #errors() > 0
end

local function has_none()
  return #errors() == 0
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(config, 0, -1, false), "\n")
end

local function keys(typed)
  local codes = vim.api.nvim_replace_termcodes(typed, true, false, true)
  vim.api.nvim_feedkeys(codes, "mx", false)
end

-- The text of the floating window that a hover opens.
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local buffer = vim.api.nvim_win_get_buf(window)
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
    end
  end
end

-- The menu of code actions: takes the first that changes the batch.
local offered
vim.ui.select = function(items, options, choose)
  offered = {}
  for index, item in ipairs(items) do
    offered[index] = options.format_item and options.format_item(item) or item
  end
  choose(items[1], 1)
end

local function attached()
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  return #clients({ bufnr = config }) > 0 and #vim.lsp.buf_get_clients(config) > 0
end

local function session()
  wait_for("the server", attached)

  keys("gg/^batch_size<CR>")
  keys("ww" .. "ciw16<Esc>") -- batch_size = 8 becomes 16
  wait_for("the error", has_error)
  seen.typed = { text = text(), code = errors()[1].code, message = errors()[1].message, line = errors()[1].lnum }

  keys("0")
  vim.lsp.buf.hover()
  wait_for("the hover", floating)
  seen.hover = floating()
  keys("<C-w>o")

  vim.lsp.buf.code_action()
  wait_for("a fix that mends it", function()
    return offered ~= nil and has_none()
  end)
  seen.fixed = { text = text(), offered = offered }

  keys("u")
  wait_for("the error again", has_error)
  seen.undone = { text = text() }

  vim.cmd("NanolintGpu a100-40gb")
  wait_for("the error gone on a larger card", has_none)
  seen.larger_card = { text = text() }

  vim.cmd("split train.py")
  keys("gg/^n_embd<CR>")
  keys("ww" .. "ciw6144<Esc>")
  wait_for("the error that an unsaved train.py makes", has_error)
  seen.train_script = { message = errors()[1].message, saved = vim.fn.readfile("train.py") }

  keys("u")
  wait_for("the error gone with it", has_none)
  vim.cmd("close!")

  vim.cmd("NanolintGpu rtx-3060")
  wait_for("the error on the smaller card", has_error)
  vim.lsp.buf.code_action()
  wait_for("the fix", has_none)
  vim.cmd("write")

  vim.cmd("bdelete")
  seen.closed = #vim.diagnostic.get(config)
end

local ok, failure = pcall(session)
if ok then
  finish(nil)
else
  seen.text = text()
  seen.diagnostics = vim.diagnostic.get(config)
  finish(tostring(failure))
end
