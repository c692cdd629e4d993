// Prints how a client starts the server of a bundle: `launch.mjs LIBRARY FOLDER USER_CONFIG`. `LIBRARY` is the official library for bundles, and
// `FOLDER` has the files of the bundle.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [library, folder, userConfig] = process.argv.slice(2);
const { getMcpConfigForManifest } = await import(pathToFileURL(library));
const config = await getMcpConfigForManifest({
  manifest: JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8")),
  extensionPath: folder,
  systemDirs: { HOME: "/home/ada" },
  userConfig: JSON.parse(userConfig),
  pathSeparator: "/",
});
console.log(JSON.stringify(config ?? null));
