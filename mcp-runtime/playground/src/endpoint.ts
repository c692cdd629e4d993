// The addresses of the server and of the page.

import { endpointUrl } from './endpoint_url.ts';

export const ENDPOINT = endpointUrl(document.querySelector<HTMLMetaElement>('meta[name="mcp-endpoint"]')!.content, location);

// The address of the page, without the state of the form.
export const PAGE = new URL(location.pathname, location.origin);
