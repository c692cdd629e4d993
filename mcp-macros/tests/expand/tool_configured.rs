#[tool]
#[cfg(unix)]
#[deprecated]
#[inline]
async fn f() {}
