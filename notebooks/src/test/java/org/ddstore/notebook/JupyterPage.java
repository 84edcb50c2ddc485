// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;

/** Chromium without a window, in which a user looks at Jupyter. Owns the browser. */
final class JupyterPage implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** Time limit of all cells of a notebook. */
  private static final Duration NOTEBOOK_LIMIT = Duration.ofMinutes(15);

  private static final List<String> BROWSERS = List.of("chromium", "chromium-browser");

  private final ChromeDriver driver;

  private JupyterPage(ChromeDriver driver) {
    this.driver = driver;
  }

  /** Skips the test without Chromium and its driver, or fails in CI. */
  static void require() {
    Needed.check(
        "Chromium",
        browser().isPresent() && find("chromedriver").isPresent(),
        () -> "no chromium or no chromedriver on the path");
  }

  private static Optional<File> browser() {
    return BROWSERS.stream().map(JupyterPage::find).flatMap(Optional::stream).findFirst();
  }

  private static Optional<File> find(String program) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .map(folder -> new File(folder, program))
        .filter(File::canExecute)
        .findFirst();
  }

  /**
   * Starts the browser.
   *
   * @param folder folder for its profile and its temporary files
   */
  static JupyterPage open(Path folder) throws IOException {
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(find("chromedriver").orElseThrow())
            .withEnvironment(Map.of("HOME", folder.toString(), "TMPDIR", folder.toString()))
            .withLogFile(folder.resolve("chromedriver.log").toFile())
            .build();
    ChromeOptions options =
        new ChromeOptions()
            .setBinary(browser().orElseThrow())
            .addArguments(
                "--headless=new",
                "--no-sandbox", // which root cannot have
                "--disable-dev-shm-usage",
                "--window-size=1100,1000",
                "--user-data-dir=" + Files.createDirectory(folder.resolve("profile")));
    return new JupyterPage(new ChromeDriver(service, options));
  }

  /** Opens an address. */
  void open(String address) {
    driver.get(address);
  }

  /** Returns the elements that a CSS selector names. */
  List<WebElement> all(String selector) {
    return driver.findElements(By.cssSelector(selector));
  }

  /** Returns the visible text of an element that appears. */
  String text(String selector) {
    return appearing(selector).getText();
  }

  /** Presses the mouse button on an element that appears. */
  void click(String selector) {
    appearing(selector).click();
  }

  private WebElement appearing(String selector) {
    return await(selector)
        .atMost(LIMIT)
        .until(() -> all(selector), found -> !found.isEmpty() && found.get(0).isDisplayed())
        .get(0);
  }

  /** Opens a notebook, and waits until its kernel has started. */
  void openNotebook(String address) {
    open(address);
    appearing(".kernel_idle_icon");
    appearing(".code_cell");
  }

  /** Runs all cells by the menu, and waits for the last one. */
  void runAll() {
    click("#celllink");
    click("#run_all_cells");
    await("all cells have ended")
        .atMost(NOTEBOOK_LIMIT)
        .until(
            () ->
                all(".code_cell .input_prompt").stream()
                    .allMatch(prompt -> prompt.getText().matches("In \\[\\d+\\]:")));
    appearing(".kernel_idle_icon");
  }

  /** Types code into a new cell at the end, without running it. */
  void typeIntoNewCell(String code) {
    List<WebElement> cells = all(".cell");
    cells.get(cells.size() - 1).click();
    press(Keys.ESCAPE, "b", Keys.ENTER, code);
  }

  /** Presses keys, one after the other. */
  void press(CharSequence... keys) {
    for (CharSequence key : keys) {
      new Actions(driver).sendKeys(key).perform();
    }
  }

  /** Presses a key while another one is held. */
  void pressWith(Keys held, CharSequence key) {
    new Actions(driver).keyDown(held).sendKeys(key).keyUp(held).perform();
  }

  /** Scrolls until the first element that a CSS selector names is at the end of the window. */
  void scrollTo(String selector) {
    driver.executeScript("arguments[0].scrollIntoView(false)", all(selector).get(0));
  }

  /** Returns what the page shows, as a PNG file. */
  byte[] screenshot() {
    return driver.getScreenshotAs(OutputType.BYTES);
  }

  /** Ends the browser and its driver. */
  @Override
  public void close() {
    driver.quit();
  }
}
