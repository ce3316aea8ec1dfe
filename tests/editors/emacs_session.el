;;; What a person does in Emacs, in the folder of config.py; an error ends it with a status.

(require 'eglot)
(require 'flymake)

(defun wait-for (what condition)
  (let ((patience 400))
    (while (not (or (funcall condition) (zerop (setq patience (1- patience)))))
      (accept-process-output nil 0.05))
    (when (zerop patience)
      (error "never saw %s" what))))

(defun out-of-memory-p ()
  (flymake-start)
  (string-match-p "out of memory" (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\n")))

(find-file "config.py")
(unless (eglot-managed-p)
  (apply #'eglot (eglot--guess-contact))) ; a batch has no command loop, which eglot-ensure waits for
(goto-char (point-min))
(search-forward "= 8")
(delete-char -1)
(insert "16")
(eglot--signal-textDocument/didChange)
(wait-for "the error" #'out-of-memory-p)

(let ((actions (append (eglot-code-actions (point-min) (point-max)) nil)))
  (eglot--apply-workspace-edit (plist-get (car actions) :edit)))
(eglot--signal-textDocument/didChange)
(wait-for "the error gone" (lambda () (not (out-of-memory-p))))
(save-buffer)
(eglot-shutdown-all)
