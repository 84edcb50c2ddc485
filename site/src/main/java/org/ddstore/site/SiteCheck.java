// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A check of the files of a site, those of the Javadoc included: every relative link leads to a
 * file, and every anchor to an element.
 */
final class SiteCheck {
  private static final Pattern LINK = Pattern.compile("\\s(?:href|src)=\"([^\"]*)\"");
  private static final Pattern ID = Pattern.compile("\\s(?:id|name)=\"([^\"]*)\"");
  private static final Pattern NOT_RELATIVE = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]*:.*");

  /** A page of Javadoc whose table of contents names packages without constants. */
  private static final String CONSTANTS = SitePaths.API + "/constant-values.html";

  private final Path site;
  private final Map<Path, Set<String>> ids = new HashMap<>();
  private final List<String> problems = new ArrayList<>();
  private int count;

  private SiteCheck(Path site) {
    this.site = site;
  }

  /**
   * The result of a check.
   *
   * @param problems one line for each link without a target
   * @param count number of links
   */
  record Result(List<String> problems, int count) {}

  /** Checks the files in a folder. */
  static Result of(Path site) throws IOException {
    SiteCheck check = new SiteCheck(site.toAbsolutePath().normalize());
    List<Path> files;
    try (Stream<Path> all = Files.walk(check.site)) {
      files =
          all.filter(file -> file.toString().endsWith(".html"))
              .filter(file -> !file.endsWith(CONSTANTS))
              .sorted()
              .toList();
    }
    Map<Path, Set<String>> links = new HashMap<>();
    for (Path file : files) {
      String html = Files.readString(file);
      check.ids.put(file, values(ID, html));
      links.put(file, values(LINK, html));
    }
    for (Path file : files) {
      links.get(file).forEach(link -> check.check(file, link));
    }
    return new Result(List.copyOf(check.problems), check.count);
  }

  private static Set<String> values(Pattern pattern, String html) {
    Set<String> values = new HashSet<>();
    Matcher matcher = pattern.matcher(html);
    while (matcher.find()) {
      values.add(unescape(matcher.group(1)));
    }
    return values;
  }

  private static String unescape(String value) {
    return value
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
  }

  private void check(Path file, String link) {
    if (NOT_RELATIVE.matcher(link).matches()) {
      return;
    }
    count++;
    int hash = link.indexOf('#');
    String path = decode(hash < 0 ? link : link.substring(0, hash));
    String anchor = hash < 0 ? "" : decode(link.substring(hash + 1));
    Path target = path.isEmpty() ? file : file.resolveSibling(path).normalize();
    if (!target.startsWith(site) || !Files.isRegularFile(target)) {
      problems.add("%s: %s: there is no such file".formatted(site.relativize(file), link));
    } else if (!anchor.isEmpty() && !ids.getOrDefault(target, Set.of(anchor)).contains(anchor)) {
      problems.add("%s: %s: there is no such anchor".formatted(site.relativize(file), link));
    }
  }

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
