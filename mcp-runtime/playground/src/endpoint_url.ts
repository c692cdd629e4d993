// The address of the endpoint, from the path that the server has written into the page and from the address of the page.

// The server serves the page beside the endpoint, as `playground`. An application or a proxy may have put a prefix before both paths, which the
// server does not know. So the last segment of the path is resolved against the address of the page, if the page has its usual name.
export function endpointUrl(path: string, page: { href: string; origin: string; pathname: string }): URL {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const isSibling = page.pathname.endsWith('/playground') && name !== '';
    // The dot keeps a colon in the name from becoming a scheme.
    return isSibling ? new URL(`./${name}`, page.href) : new URL(path, page.origin);
}
