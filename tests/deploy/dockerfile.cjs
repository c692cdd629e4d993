// Prints the instructions of a Dockerfile and what the linter says about them, as JSON: `dockerfile.cjs FOLDER FILE`.
// FOLDER has the installed packages.

const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");

const [folder, file] = process.argv.slice(2);
const installed = createRequire(`${folder}/package.json`);
const { DockerfileParser } = installed("dockerfile-ast");
const { validate } = installed("dockerfile-utils");

const text = readFileSync(file, "utf8");
const instructions = DockerfileParser.parse(text)
  .getInstructions()
  .map((instruction) => ({
    keyword: instruction.getKeyword(),
    arguments: instruction.getArguments().map((argument) => argument.getValue()),
    content: instruction.getArgumentsContent() ?? "",
  }));
const problems = validate(text).map(
  (problem) => `line ${problem.range.start.line + 1}: ${problem.message}`,
);
process.stdout.write(JSON.stringify({ instructions, problems }));
