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
  void noCommandIsAUsageError() {
    StringWriter err = new StringWriter();

    int status = Main.commandLine().setErr(new PrintWriter(err)).execute();

    assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString()).contains("Missing command");
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
