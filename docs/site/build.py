# SPDX-License-Identifier: Apache-2.0
"""What the build adds to pages: mermaid, the Javadoc and links to it, the rank in searches; a check of lists."""

import hashlib
import logging
import os
import re
import subprocess
from os.path import dirname, join, relpath

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

log = logging.getLogger("mkdocs.hooks")
ROOT = dirname(dirname(dirname(os.path.realpath(__file__))))
MERMAID_VERSION = "11.14.0"
MERMAID_SHA256 = "217b66ef4279c33c141b4afe22effad10a91c02558dc70917be2c0981e78ed87"
CLASS_PATH = os.environ.get("DDSTORE_CLASS_PATH")  # of the Javadoc; without it the site has none
# Factors of the rank in searches by the beginning of the path; 1 elsewhere.
BOOSTS = {"guide/": 2, "architecture": 0.3, "design/": 0.3, "decisions/": 0.3, "CONTRIBUTING": 0.3, "CHANGELOG": 0.1}
types = {}  # pages of the Javadoc by name of the type


def read(path):
    with open(join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(*command):
    if subprocess.run(command, cwd=ROOT).returncode:
        raise PluginError(f"{command[0]} failed")


def on_config(config):
    if CLASS_PATH:
        config.nav.append({"Javadoc": "javadoc/index.html"})


def on_files(files, config):
    files.append(File.generated(config, "assets/mermaid.min.js", abs_src_path=fetch_mermaid()))
    if CLASS_PATH:
        folder = join(config.site_dir, "javadoc")
        write_javadoc(folder)
        files.append(File.generated(config, "javadoc/index.html", content=read(join(folder, "index.html"))))


def fetch_mermaid():
    """Returns the build of mermaid, which is too large to be committed."""
    file = join(ROOT, f"target/mermaid/META-INF/resources/webjars/mermaid/{MERMAID_VERSION}/dist/mermaid.min.js")
    if not os.path.exists(file):
        options = [f"-Dartifact=org.webjars.npm:mermaid:{MERMAID_VERSION}", "-DoutputDirectory=target/mermaid"]
        run("mvn", "-q", "-B", "-N", "dependency:unpack", "-Dmdep.unpack.includes=**/dist/mermaid.min.js", *options)
    with open(file, "rb") as content:
        if hashlib.sha256(content.read()).hexdigest() != MERMAID_SHA256:
            raise PluginError(f"{file} has another SHA-256 than {MERMAID_SHA256}: delete it")
    return file


def write_javadoc(folder):
    """Writes the Javadoc of the packages that users see. Warnings are errors, as in a release."""
    pom = read("pom.xml")
    version, packages = (re.search(f"<{name}>(.*)</", pom)[1] for name in ["version", "ddstore.user.packages"])
    name = f"DDStore for Spark {version}"
    sources = ":".join(f"{module}/src/main/java" for module in ["core", "native", "spark-connector", "formats"])
    options = ["-quiet", "-notimestamp", "-Xdoclint:all,-missing", "-Werror", "-encoding", "UTF-8", "-d", folder]
    options += ["-windowtitle", name, "-doctitle", name]
    options += ["-header", '<a href="{@docRoot}/../index.html">Documentation</a>']
    options += ["-sourcepath", sources, "-classpath", os.environ["DDSTORE_CLASS_PATH"]]
    run(join(os.environ["JAVA_HOME"], "bin/javadoc"), *options, *packages.split(","))
    for package, name in re.findall(r'"p":"([\w.]+)","l":"([\w.]+)"', read(join(folder, "type-search-index.js"))):
        types[name] = f"javadoc/{package.replace('.', '/')}/{name}.html"


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    page.meta["search"] = {"boost": next((boost for start, boost in BOOSTS.items() if uri.startswith(start)), 1)}


def on_page_content(html, page, config, files):
    """Links names of types in code to the Javadoc, and finds lists that Python's Markdown does not see."""
    item = re.search(r"^(\d+\.|[-*]) .*", re.sub("(?s)<pre.*?</pre>", "", html), re.M)
    if item:
        log.warning("%s: a blank line is missing before the list, or its item: %s", page.file.src_uri, item[0])

    def link(match):
        address = relpath(types[match[3]], dirname(page.file.src_uri) or ".") if match[3] in types else None
        return f'<a href="{address}">{match[0]}</a>' if address else match[0]

    return re.sub(r"(?s)<(a|h\d)\b.*?</\1>|(<code>)([\w.]+)</code>", link, html) if types else html
