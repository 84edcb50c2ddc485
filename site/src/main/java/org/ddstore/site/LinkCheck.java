// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.ddstore.site.LinkTarget.Broken;
import org.ddstore.site.LinkTarget.External;
import org.ddstore.site.LinkTarget.ToPage;

/**
 * The result of a check of all links in pages.
 *
 * @param problems one line for each link without a target, with page and line, and for each page
 *     that cannot be reached from the first one
 * @param external one line for each link to an address outside of the project, with page and line;
 *     these are not fetched
 * @param count number of links
 */
record LinkCheck(List<String> problems, List<String> external, int count) {

  static LinkCheck of(Pages pages) {
    List<String> problems = new ArrayList<>();
    List<String> external = new ArrayList<>();
    int count = 0;
    for (Page page : pages.all()) {
      for (Page.Reference reference : page.references()) {
        count++;
        LinkTarget target = pages.resolve(page, reference.target());
        String place = "%s:%d: %s".formatted(page.path(), reference.line(), reference.target());
        if (target instanceof Broken broken) {
          problems.add("%s: %s".formatted(place, broken.reason()));
        } else if (target instanceof External) {
          external.add(place);
        }
      }
    }
    Set<Page> reached = reached(pages);
    for (Page page : pages.all()) {
      if (!reached.contains(page)) {
        problems.add("%s:1: no path of links leads to it from %s".formatted(page, Pages.START));
      }
    }
    return new LinkCheck(List.copyOf(problems), List.copyOf(external), count);
  }

  /** Returns the pages to which links lead, in any number of steps, from the first page. */
  private static Set<Page> reached(Pages pages) {
    Set<Page> reached = new HashSet<>();
    ArrayDeque<Page> next = new ArrayDeque<>();
    pages.find(Pages.START).ifPresent(next::add);
    while (!next.isEmpty()) {
      Page page = next.remove();
      if (reached.add(page)) {
        for (Page.Reference reference : page.references()) {
          if (pages.resolve(page, reference.target()) instanceof ToPage found) {
            next.add(found.page());
          }
        }
      }
    }
    return reached;
  }
}
