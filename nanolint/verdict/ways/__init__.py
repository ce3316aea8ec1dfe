"""Ways out that a script's text has to say: each tries it on the text, which is then read again.

They take a program and give it back changed, or None where its text has not the form.
"""
