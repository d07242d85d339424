//! Markdown as the clients read it: front matter, comments, and the mentions in prose.
