# SPDX-License-Identifier: Apache-2.0
"""Pages of the site: navigation, redirects, pages and links outside of docs."""

import functools
import logging
import os
import re
from posixpath import basename, dirname, join, normpath, relpath

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File
from nbconvert import MarkdownExporter

log = logging.getLogger("mkdocs.hooks")
ROOT = dirname(dirname(dirname(os.path.realpath(__file__))))
LINK = re.compile(r"(?:\[([^\[\]]*))?\]\((?!\w+:)([^)\s#]+)(#[^)\s]*)?\)")
PAGES = (".md", ".ipynb")

# Paths in the site by path in the repository, where they are not the same below docs.
paths = {"README.md": "index.md", "docs/README.md": "contents.md"}
pictures = {}  # of notebooks, by path


@functools.lru_cache(maxsize=None)
def read(path):
    """Returns the text of a file of the repository, of a notebook in Markdown."""
    if not path.endswith(".ipynb"):
        with open(join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    options = {"unique_key": basename(path)[:-6], "output_files_dir": basename(path)[:-6] + "_files"}
    text, resources = MarkdownExporter().from_filename(join(ROOT, path), options)
    pictures.update({join(dirname(path), file): data for file, data in resources["outputs"].items()})
    return text.replace("```java\n%%sql", "```sql\n%%sql")


def pom(name):
    return re.search(f"<{name}>([^<]*)</", read("pom.xml"))[1]


def title(path):
    return re.search("^# (.*)", read(path), re.M)[1]


def targets(path, text):
    return dict.fromkeys(normpath(join(dirname(path), link[2])) for link in LINK.finditer(text))


def site_path(path):
    path += "/README.md" if os.path.isdir(join(ROOT, path)) else ""
    return paths.get(path) or (path[5:] if path.startswith("docs/") else None)


def inner(path):
    """Returns the pages of the folder of a page to which it links."""
    folder = re.sub(r"(/README)?\.md$", "/", path)
    return [p for p in targets(path, read(path)) if p.startswith(folder) and p != path and p.endswith(PAGES)]


def on_config(config):
    sections = re.split(r"^## (.*)\n", read("docs/README.md"), flags=re.M)[1:]
    config.nav = [{"Home": ["index.md", "contents.md"]}]
    for name, text in zip(sections[::2], sections[1::2]):
        groups = {p: inner(p) for p in targets("docs/README.md", text) if p.endswith(PAGES)}
        grouped = [p for group in groups.values() for p in group]
        paths.update({p: re.sub("ipynb$", "md", p) for p in [*groups, *grouped] if not site_path(p)})
        entries = {p: [site_path(p), *map(site_path, group)] for p, group in groups.items() if p not in grouped}
        config.nav.append({name: [{title(p): group} if group[1:] else group[0] for p, group in entries.items()]})
    redirects = map(str.split, read("docs/redirects.txt").splitlines())
    config.plugins["redirects"].config["redirect_maps"] = dict(redirects)
    config.extra["social"] = [{"icon": "fontawesome/brands/git-alt", "link": pom("ddstore.url"), "name": "Sources"}]
    return config


@event_priority(100)  # before the plugin redirects looks for the pages
def on_files(files, config):
    files.remove(files.get_file_from_path("README.md"))
    for path, uri in paths.items():
        files.append(File.generated(config, uri, content=read(path)))
    for path, data in pictures.items():
        paths[path] = path
        files.append(File.generated(config, path, content=data))


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    path = next((path for path in paths if paths[path] == uri), "docs/" + uri)

    def link(match):
        text, target, anchor = match[1], normpath(join(dirname(path), match[2])), match[3] or ""
        if target not in paths and not os.path.exists(join(ROOT, target)):
            log.warning("%s: link to %s, which does not exist", path, match[2])
            return match[0]
        address = f"{pom('ddstore.url')}/blob/main/{target}"
        if site_path(target):
            address = relpath(site_path(target), dirname(uri) or ".")
            text = title(target) if text and text.endswith(PAGES) else text
        return ("" if text is None else "[" + text) + f"]({address}{anchor})"

    # In code in tables, the repository needs a backslash before |, and mkdocs would show it.
    return LINK.sub(link, re.sub(r"`[^`\n]+`", lambda code: code[0].replace("\\|", "|"), markdown))
