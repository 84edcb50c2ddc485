// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Test;

/** The C sources follow {@code .clang-format}, which {@code ./ddstore format} applies. */
class CSourceFormatTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  private static final int OLDEST = 14;

  private record Ended(int status, String text) {}

  private static Ended clangFormat(List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("clang-format"));
    command.addAll(arguments);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("clang-format ends in time").isTrue();
      return new Ended(process.exitValue(), text);
    } finally {
      process.destroyForcibly();
    }
  }

  private static String version() throws InterruptedException {
    try {
      return clangFormat(List.of("--version")).text().strip();
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private static boolean isRecent(String version) {
    Matcher matcher = Pattern.compile("clang-format version (\\d+)\\.").matcher(version);
    return matcher.find() && Integer.parseInt(matcher.group(1)) >= OLDEST;
  }

  private static List<String> sources() throws IOException {
    List<String> sources = new ArrayList<>();
    for (String folder :
        List.of(
            "native/src/main/c",
            "native/src/test/c",
            "native/src/reader",
            "benchmarks/src/main/c")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
        files.map(Path::toString).filter(name -> name.matches(".*\\.[ch]")).forEach(sources::add);
      }
    }
    return sources;
  }

  @Test
  void sourcesFollowTheStyle() throws Exception {
    String version = version();
    Needed.check("clang-format " + OLDEST + " or newer", isRecent(version), () -> version);
    List<String> arguments =
        new ArrayList<>(List.of("--dry-run", "-Werror", "--style=file", "--fallback-style=none"));
    List<String> sources = sources();
    assertThat(sources).hasSizeGreaterThan(30);
    arguments.addAll(sources);
    Ended check = clangFormat(arguments);
    assertThat(check.status()).as("%s: run ./ddstore format%n%s", version, check.text()).isZero();
  }
}
