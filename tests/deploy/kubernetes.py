"""Validates the documents of a YAML file against the schemas of Kubernetes.

Usage: kubernetes.py FILE VERSION…

Prints a JSON object: `documents` has the documents of the file, and `problems` what is wrong with them in one of the versions.
"""

import json
import sys

import kubernetes_validate
import yaml


def main():
    path, versions = sys.argv[1], sys.argv[2:]
    with open(path, encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    problems = []
    for version in versions:
        for document in documents:
            try:
                # `strict` also finds unknown fields, which Kubernetes would ignore.
                kubernetes_validate.validate(document, version, strict=True)
            except (
                kubernetes_validate.ValidationError,
                kubernetes_validate.SchemaNotFoundError,
            ) as error:
                problems.append(f"{version}: {document['kind']}: {error}")
    json.dump({"documents": documents, "problems": problems}, sys.stdout)


main()
