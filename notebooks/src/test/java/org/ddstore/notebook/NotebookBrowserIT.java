// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * {@code ./ddstore notebook} as a user sees it: Jupyter's pages in Chromium. {@code
 * -Dddstore.guide.write=true} writes the screenshot into the pages.
 */
@Tag("slow")
@Tag("system")
class NotebookBrowserIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path FIRST = ROOT.resolve("notebooks/1-quickstart.ipynb");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path SCREENSHOT =
      ROOT.resolve(Boolean.getBoolean("ddstore.guide.write") ? "docs/images" : "notebooks/target")
          .resolve("notebook.png");

  /** Below the folder of notebooks, which Jupyter serves. */
  @TempDir private Path folder;

  @TempDir(factory = ShortPath.class)
  private Path browser;

  /** Chromium has a socket in its temporary folder, whose path may have 107 characters. */
  static final class ShortPath implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext field, ExtensionContext test)
        throws IOException {
      return Files.createTempDirectory(Path.of("/tmp"), "ddstore-browser-");
    }
  }

  @BeforeAll
  static void requireBrowser() {
    boolean isThere =
        Stream.of(System.getenv("PATH").split(":", -1))
            .anyMatch(path -> Files.isExecutable(Path.of(path, "jupyter-notebook")));
    Needed.check("Jupyter", isThere, () -> "no jupyter-notebook on the path");
    JupyterPage.require();
  }

  @Test
  void firstNotebookRunsInABrowser() throws Exception {
    Path notebook = copyWithoutOutputs(FIRST);
    try (JupyterServer server = JupyterServer.start(folder);
        JupyterPage page = JupyterPage.open(browser)) {
      page.openNotebook(server.addressOf(notebook));
      page.runAll();

      assertThat(page.all(".output_error")).as("errors").isEmpty();
      assertThat(page.all(".rendered_html table"))
          .extracting(WebElement::getText)
          .anyMatch(table -> table.startsWith("store "))
          .anyMatch(table -> table.contains("float"));
      assertIsDrawn(page.all(".output_svg svg, .output_png img"));
      page.scrollTo(".output_svg, .output_png");
      Files.write(SCREENSHOT, page.screenshot());

      completesOnTab(page);
      interrupts(page);
      server.interruptTwice();
      server.assertEndsWithoutLeftovers();
    }
  }

  private Path copyWithoutOutputs(Path notebook) throws IOException {
    JsonNode content = JSON.readTree(notebook.toFile());
    for (JsonNode cell : content.get("cells")) {
      if (cell instanceof ObjectNode code && code.has("outputs")) {
        code.putArray("outputs");
        code.putNull("execution_count");
      }
    }
    Path copy = folder.resolve(notebook.getFileName());
    JSON.writeValue(copy.toFile(), content);
    return copy;
  }

  private static void assertIsDrawn(List<WebElement> charts) {
    assertThat(charts).as("charts").isNotEmpty();
    for (WebElement chart : charts) {
      assertThat(chart.getSize().getWidth()).as("pixels").isGreaterThan(100);
      assertThat(chart.getSize().getHeight()).as("pixels").isGreaterThan(100);
    }
  }

  private static void completesOnTab(JupyterPage page) {
    page.typeIntoNewCell("store.");
    page.press(Keys.TAB);
    assertThat(page.text(".completions select")).contains("explain()", "sample(");
    page.press(Keys.ESCAPE);
  }

  private static void interrupts(JupyterPage page) {
    page.typeIntoNewCell("while (true) { }");
    page.pressWith(Keys.CONTROL, Keys.ENTER);
    assertThat(page.text(".selected .input_prompt")).isEqualTo("In [*]:");
    page.click("[data-jupyter-action='jupyter-notebook:interrupt-kernel']");
    assertThat(page.text(".selected .output_error")).isEqualTo("the cell was interrupted");

    page.typeIntoNewCell("6 * 7");
    page.pressWith(Keys.CONTROL, Keys.ENTER);
    assertThat(page.text(".selected .output_result")).isEqualTo("42");
  }

  @Test
  void refusesWithoutTokenAndEndsByQuit() throws Exception {
    try (JupyterServer server = JupyterServer.start(folder);
        JupyterPage page = JupyterPage.open(browser)) {
      page.open(server.base().toString());
      assertThat(page.text("#login_submit")).isEqualTo("Log in");
      assertThat(page.all("#notebook_list")).isEmpty();
      assertThat(status(server, "api/contents")).isEqualTo(403);
      assertThat(status(server, "api/kernels")).isEqualTo(403);

      page.open(server.address());
      assertThat(page.text("#notebook_list [href$='README.md']")).isEqualTo("README.md");
      page.click("#shutdown");
      server.assertEndsWithoutLeftovers();
    }
  }

  private static int status(JupyterServer server, String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(server.base().resolve(path)).build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
  }
}
