// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.ddstore.pages.Page.Block;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every block of code that a page does not mark as not run does run, and prints the output that the
 * page shows. {@code -Dddstore.guide.page=TEXT} runs the pages whose path contains a text. {@code
 * -Dddstore.guide.write=true} writes outputs that are wrong into the pages.
 */
@Tag("slow")
@Tag("system")
abstract class PageBlocksContract {
  static final String GUIDE = "docs/guide/";

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
    return Page.all().stream()
        .filter(page -> covers(page.path()) && page.path().contains(PAGE))
        .filter(page -> page.blocks().stream().anyMatch(Block::runs))
        .map(page -> DynamicTest.dynamicTest(page.path(), () -> run(page)));
  }

  private static void run(Page page) throws Exception {
    List<String> problems = new ArrayList<>();
    // From the last output to the first, because a written one changes the numbers of lines.
    Map<Integer, Runnable> corrections = new TreeMap<>((a, b) -> b - a);
    List<String> lines = new ArrayList<>(Files.readAllLines(Page.ROOT.resolve(page.path())));
    runner.beginPage();
    try {
      for (Block block : page.blocks()) {
        String actual = block.runs() ? runner.run(block) : "";
        PageOutput expected = block.output().orElse(null);
        if (block.runs() && expected != null && !expected.matches(actual)) {
          corrections.put(block.line(), () -> expected.write(lines, actual));
          problems.add(
              "%s: other output than on the page%s:%n%s%nexpected:%n%s%nfrom:%n%s"
                  .formatted(
                      block,
                      expected.differs() ? ", apart from numbers" : "",
                      actual,
                      expected.text(),
                      block.code()));
        }
      }
    } catch (PageRunner.BlockFailure e) {
      TOOLS.forEach(
          (tool, error) -> Needed.check(tool, !e.getMessage().contains(error), e::getMessage));
      problems.add(e.getMessage());
    } finally {
      runner.endPage();
    }
    if (WRITES && !corrections.isEmpty()) {
      corrections.values().forEach(Runnable::run);
      Files.write(Page.ROOT.resolve(page.path()), lines);
    }
    assertThat(problems).as("problems of " + page).isEmpty();
  }
}
