// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.site.LinkTarget.ToPage;

/**
 * The groups of pages that every page of the site lists. A group has the pages of one folder, in
 * the order in which the list of pages and the list of the folder name them.
 */
final class Navigation {
  /** Titles of the groups by folder, in their order. */
  private static final Map<String, String> GROUPS = new LinkedHashMap<>();

  static {
    GROUPS.put("docs/guide", "Guide");
    GROUPS.put("docs/guide/troubleshooting", "Messages");
    GROUPS.put("notebooks", "Notebooks");
    GROUPS.put("docs", "Reference");
    GROUPS.put("docs/design", "Design");
    GROUPS.put("docs/decisions", "Decisions");
    GROUPS.put("", "Project");
  }

  /**
   * Pages under one title.
   *
   * @param title title of the group
   */
  record Group(String title, List<Page> pages) {}

  private Navigation() {}

  /** Returns the groups of all pages but the first one. */
  static List<Group> of(Pages pages) {
    Map<String, List<Page>> byFolder = new LinkedHashMap<>();
    GROUPS.keySet().forEach(folder -> byFolder.put(folder, new ArrayList<>()));
    for (Page page : pages.all()) {
      if (!page.path().equals(Pages.START)) {
        byFolder.getOrDefault(page.folder(), byFolder.get("")).add(page);
      }
    }
    List<Group> groups = new ArrayList<>();
    byFolder.forEach(
        (folder, group) -> {
          if (!group.isEmpty()) {
            List<Page> named = named(folder, pages);
            group.sort(
                Comparator.comparingInt(
                    page -> named.contains(page) ? named.indexOf(page) : named.size()));
            groups.add(new Group(GROUPS.get(folder), List.copyOf(group)));
          }
        });
    return groups;
  }

  /** Returns the pages in the order in which lists name them: the common one, then the folder's. */
  private static List<Page> named(String folder, Pages pages) {
    List<Page> named = new ArrayList<>();
    for (String list : List.of(Pages.LIST, folder + "/README.md", folder + ".md")) {
      pages.find(list).ifPresent(page -> addNamed(page, pages, named));
    }
    return named;
  }

  private static void addNamed(Page list, Pages pages, List<Page> named) {
    named.add(list);
    for (Page.Reference reference : list.references()) {
      if (pages.resolve(list, reference.target()) instanceof ToPage found) {
        named.add(found.page());
      }
    }
  }
}
