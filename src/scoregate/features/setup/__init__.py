"""`install` and `python`: what suites run in, from the files of the project: Python, Node.js, and packages of both."""
