// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.ddstore.site.PageRunner.BlockFailure;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every block of code that a page does not mark as not run does run, and prints the output that the
 * page shows. {@code -Dddstore.guide.page=TEXT} runs the pages whose path contains a text. {@code
 * -Dddstore.guide.write=true} writes outputs that are missing or wrong into the pages.
 */
@Tag("slow")
@Tag("system")
abstract class PageBlocksContract {
  static final String GUIDE = "docs/guide/";

  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final String PAGE = System.getProperty("ddstore.guide.page", "");
  private static final boolean WRITES = Boolean.getBoolean("ddstore.guide.write");

  /** Tools that a machine may lack, and the errors that tell so. */
  private static final Map<String, String> TOOLS =
      Map.of("Python packages", "ModuleNotFoundError", "MPI", "MPI is not available");

  @TempDir private static Path folder;
  private static PageRunner runner;

  @BeforeAll
  static void open() {
    runner = new PageRunner(folder);
  }

  @AfterAll
  static void close() {
    runner.close();
  }

  /** Returns whether a test runs the blocks of a page: two share all pages, to run side by side. */
  abstract boolean covers(String path);

  @TestFactory
  Stream<DynamicTest> blocksRunAsThePageShows() throws IOException {
    return Pages.read(ROOT).all().stream()
        .filter(page -> covers(page.path()) && page.path().contains(PAGE))
        .filter(page -> PageBlocks.of(page).stream().anyMatch(CodeBlock::runs))
        .map(page -> DynamicTest.dynamicTest(page.path(), () -> run(page)));
  }

  private static void run(Page page) throws Exception {
    List<String> problems = new ArrayList<>();
    Map<BlockOutput, String> others = new LinkedHashMap<>();
    runner.beginPage();
    try {
      for (CodeBlock block : PageBlocks.of(page)) {
        if (block.runs()) {
          compare(block, runner.run(block), problems, others);
        }
      }
    } catch (BlockFailure e) {
      for (Map.Entry<String, String> tool : TOOLS.entrySet()) {
        Needed.check(tool.getKey(), !e.getMessage().contains(tool.getValue()), e::getMessage);
      }
      problems.add(e.getMessage());
    } finally {
      runner.endPage();
    }
    if (WRITES) {
      write(page, others);
    }
    assertThat(problems).as("problems of " + page).isEmpty();
  }

  private static void compare(
      CodeBlock block, String actual, List<String> problems, Map<BlockOutput, String> others) {
    BlockOutput expected = block.output().orElse(null);
    if (expected != null && !expected.matches(actual)) {
      others.put(expected, actual);
      problems.add(
          "%s: other output than on the page:%n%s%nexpected%s:%n%s%nfrom:%n%s"
              .formatted(
                  block,
                  actual,
                  expected.differs() ? " apart from numbers" : "",
                  expected.text(),
                  block.code()));
    }
  }

  /** Writes outputs from the last one to the first, because they change the numbers of lines. */
  private static void write(Page page, Map<BlockOutput, String> outputs) throws IOException {
    Path file = ROOT.resolve(page.path());
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    List<BlockOutput> places = new ArrayList<>(outputs.keySet());
    Collections.reverse(places);
    for (BlockOutput place : places) {
      if (place.isReplaceable()) {
        place.write(lines, outputs.get(place));
      }
    }
    if (!places.isEmpty()) {
      Files.write(file, lines);
    }
  }
}
