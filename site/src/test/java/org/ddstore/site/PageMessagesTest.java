// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The pages of troubleshooting quote the messages that a user can meet, so that a search finds
 * them. {@link MessageScanner} tells which texts are messages. {@code internal-messages.txt} lists
 * those that no use of the program reaches, with the reasons.
 */
class PageMessagesTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final String TROUBLESHOOTING = "docs/guide/troubleshooting";

  /** The modules of the product and of its commands. */
  private static final List<String> MODULES =
      List.of(
          "core",
          "native",
          "spark-connector",
          "formats",
          "cli",
          "notebooks",
          "benchmarks",
          "examples",
          "site");

  /** Forms of messages that the index of the pages quotes once for all. */
  private static final List<String> COMMON_FORMS = List.of("%s is null", "interrupted while %s");

  private static List<String> quotes;
  private static Map<String, String> internal;

  @BeforeAll
  static void readPages() throws IOException {
    List<Page> pages =
        Pages.read(ROOT).all().stream()
            .filter(page -> page.path().startsWith(TROUBLESHOOTING))
            .toList();
    quotes = PageCode.of(pages).texts().stream().map(PageMessage::oneLine).toList();
    internal = internalMessages();
  }

  private static Map<String, String> internalMessages() throws IOException {
    Map<String, String> reasons = new TreeMap<>();
    try (InputStream list = PageMessagesTest.class.getResourceAsStream("internal-messages.txt")) {
      String text = new String(list.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.lines().filter(each -> !each.startsWith("#")).toList()) {
        String[] cells = line.split(" \\| ", 2);
        assertThat(cells).as("a message and a reason in: " + line).hasSize(2);
        reasons.put(cells[0], cells[1]);
      }
    }
    return reasons;
  }

  private static boolean isQuoted(PageMessage message) {
    return COMMON_FORMS.stream().anyMatch(message::hasForm)
        || quotes.stream().anyMatch(message::isIn);
  }

  private static List<PageMessage> messages(String module) throws IOException {
    return MessageScanner.scan(ROOT, module).stream().filter(PageMessage::isSearchable).toList();
  }

  @ParameterizedTest
  @FieldSource("MODULES")
  void pagesQuoteEveryMessage(String module) throws IOException {
    List<PageMessage> missing = new ArrayList<>();
    for (PageMessage message : messages(module)) {
      if (!internal.containsKey(message.text()) && !isQuoted(message)) {
        missing.add(message);
      }
    }
    assertThat(missing).as("messages that no page below %s quotes", TROUBLESHOOTING).isEmpty();
  }

  @Test
  void pagesQuoteTheCommonForms() {
    assertThat(quotes).containsAll(COMMON_FORMS);
  }

  @Test
  void everyInternalMessageExists() throws IOException {
    List<PageMessage> all = new ArrayList<>();
    for (String module : MODULES) {
      all.addAll(messages(module));
    }
    assertThat(all).extracting(PageMessage::text).containsAll(internal.keySet());
    assertThat(all).as("messages").hasSizeGreaterThan(800);
    assertThat(internal.keySet()).as("internal messages").hasSizeLessThan(30);
    assertThat(Set.copyOf(internal.values())).noneMatch(String::isBlank);
  }
}
