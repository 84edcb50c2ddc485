// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class MainTest {

  @Test
  void helpListsTheCommandsOfTheLauncher() {
    StringWriter out = new StringWriter();

    int status = Main.commandLine().setOut(new PrintWriter(out)).execute("--help");

    assertThat(status).isZero();
    assertThat(out.toString()).contains("test [OPTION]", "format", "--version");
  }

  /** As spark-submit starts the commands without the runtime jar. */
  @Test
  void aMissingConnectorIsOneLine() throws Exception {
    List<URL> path = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!entry.matches(".*/(core|native|spark-connector)/target/.*|.*/ddstore-[^/]*\\.jar")) {
        path.add(Path.of(entry).toUri().toURL());
      }
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream err = System.err;
    try (URLClassLoader loader =
            new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        PrintStream caught = new PrintStream(bytes, true, UTF_8)) {
      Method run = loader.loadClass(Main.class.getName()).getDeclaredMethod("run", String[].class);
      run.setAccessible(true);
      System.setErr(caught);
      assertThat(run.invoke(null, (Object) new String[] {"--help"}))
          .isEqualTo(CommandLine.ExitCode.SOFTWARE);
    } finally {
      System.setErr(err);
    }
    assertThat(bytes.toString(UTF_8).lines())
        .singleElement()
        .asString()
        .matches(
            "ddstore: class org\\.ddstore\\.\\S+ is missing: .*--jars .*/ddstore-spark_2\\.13-.*");
  }

  @Test
  void noCommandPrintsTheHelp() {
    StringWriter out = new StringWriter();

    int status = Main.commandLine().setOut(new PrintWriter(out)).execute();

    assertThat(status).isZero();
    assertThat(out.toString()).startsWith("Usage: ddstore ").contains("demo", "doctor");
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dmeo | unknown command \"dmeo\": did you mean demo?",
        "tset | unknown command \"tset\": did you mean test?",
        "frobnicate | unknown command \"frobnicate\"",
        "demo --rows ten | '--rows': 'ten' is not a whole number",
        "demo --seconds ten | '--seconds': 'ten' is not a number",
        "demo --ranks 262144 | --ranks: 262144 outside [1, 1024]",
        "demo --memory 100 | --memory: 100 outside [450, ",
        "demo --executors 1024 --memory 100000 | --",
        "demo --ranks 4 --width 3 | --width 3: not a divisor of the 4 ranks",
        "demo --input a b | two inputs, \"b\" and \"a\": name one",
        "explain | no input: name the data, as in ./ddstore explain PATH",
        "doctor extra more | unknown argument \"extra\"",
        "get --indices 0 | no input: name the data, as in ./ddstore get PATH",
      })
  void aWrongArgumentIsNamed(String arguments, String message) {
    StringWriter err = new StringWriter();

    int status =
        Main.commandLine().setErr(new PrintWriter(err)).execute(arguments.strip().split(" +", -1));

    assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString()).startsWith("ddstore: ").contains(message.strip());
  }

  @Test
  void messagesNameOptionsInPlaceOfSettings() {
    CommandLine demo = Main.commandLine().getSubcommands().get("demo");

    assertThat(
            ErrorReport.withOptions(
                "raise spark.executor.memoryOverhead, lower spark.executor.memory, or"
                    + " spark.ddstore.backing=file with spark.ddstore.directory on a disk, or"
                    + " spark.ddstore.ranks=2, or lower spark.ddstore.width",
                demo))
        .isEqualTo(
            "raise spark.executor.memoryOverhead, lower --memory, or --backing file, or --ranks 2,"
                + " or lower --width");
  }

  @Test
  void aReadOptionWithoutAValueIsAUsageError() {
    StringWriter err = new StringWriter();

    int status =
        Main.commandLine()
            .setErr(new PrintWriter(err))
            .execute("explain", "--input", "rows.csv", "--read-option", "header");

    assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString())
        .startsWith(
            "ddstore: Value for option '--read-option' (KEY=VALUE) should be in KEY=VALUE format");
  }
}
