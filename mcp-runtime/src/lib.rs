//! Model Context Protocol servers from plain functions.
