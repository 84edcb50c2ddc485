// SPDX-License-Identifier: Apache-2.0
package org.ddstore.build;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The commands {@code ./ddstore test}, {@code format} and {@code api}. One file that uses the JDK
 * only, because {@code java} runs it before anything is compiled.
 */
final class SourceCommands {
  private static final PrintStream OUT =
      new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);

  private static final String TEST_HELP =
      """
      Usage: ddstore test [--quick | --slow | --slow-half=A | --slow-half=B]
      Builds and checks the project, and runs all tests except those tagged slow.
      Ends with the slowest test classes, the failed tests with the reason, and the totals.
        --quick         runs only unit tests, which start no other JVM and no Spark cluster
        --slow          runs all tests
        --slow-half=A   runs only one half of the slow tests: A or B
      With CI=true and no option it also runs the slow tests of faults, contracts and releases of Spark, and one
      half of the other slow tests, which the date of the commit chooses; then the other half, if less than 25
      minutes have passed. With CI=true a failed test is run once more.""";

  private static final String API_HELP =
      """
      Usage: ddstore api [--strict] [REF]
      Reports how the packages that users see have changed since a commit, by default since the last tag of main, or of HEAD.
      It compares the runtime jar and the jar of the module formats.
        REF        commit to compare with: a tag, a branch or a hash
        --strict   fails if a change is binary incompatible""";

  private static final String FORMAT_HELP =
      """
      Usage: ddstore format
      Applies the project's formatting to the sources.""";

  private static final Duration SECOND_HALF_STARTS_WITHIN = Duration.ofMinutes(25);

  /**
   * A machine that others use as well can hold a process up beyond any deadline: a test method that
   * fails there is run once more (set-up and clean-up of classes are not forgiven). The closing
   * lines count it, and more than two such in one run of Surefire are a failure.
   */
  private static final List<String> RERUN =
      List.of("-Dsurefire.rerunFailingTestsCount=1", "-Dsurefire.failOnFlakeCount=3");

  private final Path root;
  private final Path target;
  private final boolean isCi = "true".equals(System.getenv("CI"));

  /** A refusal of arguments. */
  private static final class UsageException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
      super(message);
    }
  }

  private SourceCommands(Path root) {
    this.root = root;
    this.target = root.resolve("target");
  }

  /** Runs a command with the root of the checkout, the name of the command, and its arguments. */
  public static void main(String[] all) throws IOException, InterruptedException {
    SourceCommands commands = new SourceCommands(Path.of(all[0]));
    List<String> arguments = List.of(all).subList(2, all.length);
    int status;
    try {
      status =
          switch (all[1]) {
            case "test" -> commands.test(arguments);
            case "format" -> commands.format(arguments);
            case "api" -> commands.compareApi(arguments);
            default -> throw new UsageException("unknown command");
          };
    } catch (UsageException e) {
      System.err.printf("ddstore: %s: %s%n", all[1], e.getMessage());
      System.err.printf("See ./ddstore %s --help%n", all[1]);
      status = 2;
    } catch (IllegalStateException e) {
      System.err.printf("ddstore: %s: %s%n", all[1], e.getMessage());
      status = 1;
    }
    System.exit(status);
  }

  private int test(List<String> arguments) throws IOException, InterruptedException {
    if (arguments.size() > 1) {
      throw new UsageException("unexpected argument \"%s\"".formatted(arguments.get(1)));
    }
    if (arguments.isEmpty()) {
      return runTests(isCi ? halves(commitSeconds()) : List.of(""));
    }
    String argument = arguments.get(0);
    switch (argument) {
      case "--quick" -> {
        return runTests(List.of("-Dddstore.quick=true"));
      }
      case "--slow" -> {
        return runTests(List.of("-Dddstore.slow=true"));
      }
      case "--slow-half=A", "--slow-half=B" -> {
        return runTests(List.of("-Dddstore.slow=only-" + last(argument)));
      }
      case "-h", "--help" -> {
        OUT.println(TEST_HELP);
        return 0;
      }
      default ->
          throw new UsageException(
              "unknown argument \"%s\", legal: --quick, --slow, --slow-half=A, --slow-half=B"
                  .formatted(argument));
    }
  }

  /**
   * Returns the options of Maven that choose the slow tests of the two runs of continuous
   * integration: those that always run and the half that the day of a commit names, then the other.
   */
  static List<String> halves(long commitSeconds) {
    boolean isFirst = Duration.ofSeconds(commitSeconds).toDays() % 2 == 0;
    return isFirst
        ? List.of("-Dddstore.slow=A", "-Dddstore.slow=only-B")
        : List.of("-Dddstore.slow=B", "-Dddstore.slow=only-A");
  }

  private long commitSeconds() throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>();
    try {
      boolean isClone = run(git("log", "-1", "--format=%ct"), lines::add) == 0;
      return isClone ? Long.parseLong(lines.get(0)) : 0;
    } catch (IOException e) {
      return 0; // no git
    }
  }

  private static String last(String text) {
    return text.substring(text.length() - 1);
  }

  private int runTests(List<String> runs) throws IOException, InterruptedException {
    Instant start =
        ProcessHandle.current()
            .parent()
            .flatMap(launcher -> launcher.info().startInstant())
            .orElse(Instant.now());
    List<String> options = new ArrayList<>(List.of("-T2", "--no-transfer-progress"));
    // Maven goes on after a failed test, so that the tests of every module run.
    options.addAll(List.of("-Dmaven.test.failure.ignore=true", "--fail-at-end", "verify"));
    if (isCi) {
      options.addAll(RERUN);
    }
    TestSummary summary = new TestSummary();
    boolean isMavenOk = true;
    String note = "";
    try (Writer log = Files.newBufferedWriter(target.resolve("test.log"))) {
      for (int i = 0; i < runs.size(); i++) {
        if (i > 0) {
          String first = last(runs.get(0));
          String second = last(runs.get(i));
          note = "%nSlow tests: halves %s and %s were run.%n".formatted(first, second);
          if (start.plus(SECOND_HALF_STARTS_WITHIN).isBefore(Instant.now())) {
            note =
                "%nSlow tests: half %s was run; for the others: ./ddstore test --slow-half=%s%n"
                    .formatted(first, second);
            break;
          }
        }
        List<String> all = new ArrayList<>(options);
        if (!runs.get(i).isEmpty()) {
          all.add(runs.get(i));
        }
        if (i > 0) {
          all.add("-Dddstore.fast"); // the first run has checked the sources
        }
        int status =
            run(
                maven(root, all),
                line -> {
                  OUT.println(line);
                  summary.add(line);
                  write(log, line);
                });
        isMavenOk &= status == 0;
      }
    }
    OUT.print(note);
    summary.print(OUT);
    return isMavenOk && summary.isSuccess() ? 0 : 1;
  }

  private static void write(Writer log, String line) {
    try {
      log.write(line + "\n");
      log.flush();
    } catch (IOException e) {
      throw new IllegalStateException("the log cannot be written: " + e, e);
    }
  }

  private int format(List<String> arguments) throws IOException, InterruptedException {
    if (arguments.equals(List.of("--help")) || arguments.equals(List.of("-h"))) {
      OUT.println(FORMAT_HELP);
      return 0;
    }
    if (!arguments.isEmpty()) {
      throw new UsageException("unknown argument \"%s\", legal: none".formatted(arguments.get(0)));
    }
    List<String> clang = new ArrayList<>(List.of("clang-format", "-i"));
    for (String module : List.of("native", "benchmarks")) {
      try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src"))) {
        files
            .map(Path::toString)
            .filter(file -> file.matches(".*/src/[^/]*/c/.*[.][ch]"))
            .forEach(clang::add);
      }
    }
    try {
      new ProcessBuilder(clang).inheritIO().start().waitFor();
    } catch (IOException e) {
      System.err.println(
          "C sources are not formatted: clang-format is missing (apt-get install clang-format)");
    }
    return locked(maven(root, List.of("-q", "spotless:apply"))).inheritIO().start().waitFor();
  }

  private int compareApi(List<String> arguments) throws IOException, InterruptedException {
    String ref = "";
    boolean isStrict = false;
    for (String argument : arguments) {
      switch (argument) {
        case "--strict" -> isStrict = true;
        case "-h", "--help" -> {
          OUT.println(API_HELP);
          return 0;
        }
        case "" -> throw new UsageException("the commit is empty");
        default -> {
          if (argument.startsWith("-")) {
            throw new UsageException("unknown option \"%s\", legal: --strict".formatted(argument));
          }
          if (!ref.isEmpty()) {
            throw new UsageException(
                "two commits, \"%s\" and \"%s\": name one".formatted(ref, argument));
          }
          ref = argument;
        }
      }
    }
    checkGit();
    if (ref.isEmpty()) {
      ref = lastTag();
    }
    String commit = output(git("rev-parse", "--quiet", "--verify", ref + "^{commit}"));
    if (commit.isEmpty()) {
      throw new UsageException("\"%s\" is not a commit of this clone".formatted(ref));
    }
    // Builds the new jars.
    ProcessBuilder build = new ProcessBuilder(root.resolve("ddstore").toString(), "--version");
    if (build.redirectError(ProcessBuilder.Redirect.INHERIT).start().waitFor() != 0) {
      return 1;
    }
    Path oldRuntime = target.resolve("api").resolve(commit + "-runtime.jar");
    Path oldFormats = target.resolve("api").resolve(commit + "-formats.jar");
    if (!Files.exists(oldRuntime)) {
      buildOld(ref, commit, oldRuntime, oldFormats);
    }
    String version = version(root);
    Path runtime = root.resolve("spark-connector/target/ddstore-spark_2.13-" + version + ".jar");
    Path formats = root.resolve("formats/target/ddstore-formats_2.13-" + version + ".jar");
    Files.deleteIfExists(log());
    boolean isOk = compareJars(oldRuntime, runtime, isStrict);
    if (Files.exists(oldFormats)) {
      isOk &= compareJars(oldFormats, formats, isStrict);
    } else {
      System.err.println(ref + " has no module formats: only the runtime jar is compared");
    }
    if (!isOk) {
      throw new IllegalStateException(
          "incompatible changes since %s, or the comparison failed; see %s".formatted(ref, log()));
    }
    return 0;
  }

  private Path log() {
    return target.resolve("api.log");
  }

  private void checkGit() throws InterruptedException {
    try {
      if (output(git("rev-parse", "--git-dir")).isEmpty()) {
        throw new IllegalStateException(
            "git cannot read %s: a clone is needed, not an archive or a copy".formatted(root));
      }
    } catch (IOException e) {
      throw new IllegalStateException(
          "git is needed to read the earlier commit; install it by apt-get install git (Debian, Ubuntu)",
          e);
    }
  }

  private String lastTag() throws IOException, InterruptedException {
    // A checkout of one commit has no branch main.
    for (String branch : List.of("main", "HEAD")) {
      String tag = output(git("describe", "--tags", "--abbrev=0", branch));
      if (!tag.isEmpty()) {
        return tag;
      }
    }
    throw new UsageException(
        "no tag on main or HEAD: name the commit to compare with, as in ddstore api HEAD~1");
  }

  /** Builds the jars of a commit; the runtime jar is moved last, because its presence ends this. */
  private void buildOld(String ref, String commit, Path oldRuntime, Path oldFormats)
      throws IOException, InterruptedException {
    System.err.printf("building %s for the comparison (log: %s)%n", ref, log());
    Files.createDirectories(target.resolve("api"));
    Path source = Files.createTempDirectory(target.resolve("api"), "source-");
    try {
      check(git("clone", "--quiet", "--shared", "--no-checkout", ".", source.toString()));
      check(
          new ProcessBuilder(
              "git", "-C", source.toString(), "checkout", "--quiet", "--detach", commit));
      boolean hasFormats = Files.exists(source.resolve("formats/pom.xml"));
      String modules = hasFormats ? "spark-connector,formats" : "spark-connector";
      ProcessBuilder maven =
          maven(
              source,
              List.of("-q", "-DskipTests", "-Dddstore.fast", "-pl", modules, "-am", "package"));
      if (maven.redirectOutput(log().toFile()).start().waitFor() != 0) {
        throw new IllegalStateException(ref + " could not be built; see " + log());
      }
      String version = version(source);
      if (hasFormats) {
        move(source.resolve("formats/target/ddstore-formats_2.13-" + version + ".jar"), oldFormats);
      }
      // The name has a suffix in later versions.
      Path built =
          Stream.of("", "_2.13")
              .map(suffix -> "spark-connector/target/ddstore-spark" + suffix + "-" + version)
              .map(name -> source.resolve(name + ".jar"))
              .filter(Files::exists)
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalStateException(
                          ref + " has no runtime jar after its build; see " + log()));
      move(built, oldRuntime);
    } finally {
      delete(source);
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /** Prints how a jar differs from its former version; returns whether that is permitted. */
  private boolean compareJars(Path former, Path jar, boolean isStrict)
      throws IOException, InterruptedException {
    Path reports = target.resolve("japicmp");
    delete(reports);
    List<String> lines = new ArrayList<>();
    List<String> options = new ArrayList<>(List.of("-q", "-N", "-Papi", "japicmp:cmp"));
    options.add("-Dddstore.api.old=" + former);
    options.add("-Dddstore.api.new=" + jar);
    options.add("-Dddstore.api.strict=" + isStrict);
    int status = run(locked(maven(root, options)), lines::add);
    List<Path> differences = List.of();
    if (Files.exists(reports)) {
      try (Stream<Path> files = Files.list(reports)) {
        differences = files.filter(file -> file.toString().endsWith(".diff")).toList();
      }
    }
    for (Path difference : differences) {
      OUT.println(Files.readString(difference));
    }
    try (Writer log =
        Files.newBufferedWriter(log(), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      lines.forEach(line -> write(log, line));
    }
    if (status == 0 && !differences.isEmpty()) {
      return true;
    }
    lines.stream().filter(line -> line.contains("ERROR")).limit(3).forEach(System.err::println);
    return false;
  }

  private static String version(Path checkout) throws IOException {
    Matcher version =
        Pattern.compile("(?m)^  <version>(.*)</version>$")
            .matcher(Files.readString(checkout.resolve("pom.xml")));
    if (!version.find()) {
      throw new IllegalStateException("no version in " + checkout.resolve("pom.xml"));
    }
    return version.group(1);
  }

  private ProcessBuilder git(String... arguments) {
    List<String> command = new ArrayList<>(List.of("git", "-C", root.toString()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command);
  }

  private static ProcessBuilder maven(Path folder, List<String> options) {
    List<String> command = new ArrayList<>(List.of("mvn", "-B"));
    command.addAll(options);
    return new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
  }

  /** Lets a command wait for the end of a build of this checkout, and builds wait for it. */
  private ProcessBuilder locked(ProcessBuilder command) throws IOException {
    Path lock = Files.createDirectories(target).resolve(".lock");
    command.command().addAll(0, List.of("flock", "-o", lock.toString()));
    return command;
  }

  private void check(ProcessBuilder command) throws IOException, InterruptedException {
    if (command.inheritIO().start().waitFor() != 0) {
      throw new IllegalStateException(String.join(" ", command.command()) + " failed");
    }
  }

  /** Returns the last line that a command prints; empty if it fails. */
  private static String output(ProcessBuilder command) throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>(List.of(""));
    int status = run(command.redirectError(ProcessBuilder.Redirect.DISCARD), lines::add);
    return status == 0 ? lines.get(lines.size() - 1) : "";
  }

  private static int run(ProcessBuilder command, Consumer<String> lines)
      throws IOException, InterruptedException {
    Process process = command.start();
    try (BufferedReader output = process.inputReader(UTF_8)) {
      output.lines().forEach(lines);
    }
    return process.waitFor();
  }

  /** The totals and the failures in the output of Maven, of one run or several. */
  static final class TestSummary {
    private static final int SLOWEST = 30;
    private static final int REASON_LINES = 6;
    private static final int REASON_WIDTH = 300;

    private static final Pattern CLASS =
        Pattern.compile(".* Tests run: \\d+,.* Time elapsed: ([\\d.]+) s.* in ([A-Za-z0-9_.$]+)$");
    private static final Pattern FAILURE =
        Pattern.compile("\\[ERROR\\] (.+?) -- Time elapsed: .* <<< (FAILURE|ERROR)!$");
    private static final Pattern TOTALS =
        Pattern.compile(
            ".* Tests run: *(\\d+), Failures: *(\\d+), Errors: *(\\d+), Skipped: *(\\d+)(?:, Flakes: *(\\d+))?$");

    /** A time limit, failures, or more flakes than permitted. */
    private static final Pattern BROKEN = Pattern.compile("\\[ERROR\\] There (was|is|are) .*");

    private final Map<String, Double> seconds = new HashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final long[] totals = new long[5];
    private int runs;
    private int reasonLines;
    private boolean isBroken;

    void add(String colouredLine) {
      String line = colouredLine.replaceAll("\u001b\\[[0-9;]*m", "");
      Matcher testClass = CLASS.matcher(line);
      Matcher failure = FAILURE.matcher(line);
      Matcher sums = TOTALS.matcher(line);
      isBroken |= BROKEN.matcher(line).matches();
      if (testClass.matches()) {
        seconds.merge(testClass.group(2), Double.valueOf(testClass.group(1)), Double::sum);
      } else if (sums.matches()) {
        runs++;
        for (int i = 0; i < totals.length; i++) {
          totals[i] += sums.group(i + 1) == null ? 0 : Long.parseLong(sums.group(i + 1));
        }
      }
      if (failure.matches()) {
        failures.add("failed at least once: " + failure.group(1));
        reasonLines = REASON_LINES;
      } else if (line.startsWith("\tat ") || line.matches("\\[(INFO|WARNING|ERROR)\\].*")) {
        reasonLines = 0;
      } else if (reasonLines > 0 && !line.isBlank()) {
        failures.add("    " + line.substring(0, Math.min(line.length(), REASON_WIDTH)));
        reasonLines--;
      }
    }

    boolean isSuccess() {
      return !isBroken && totals[1] + totals[2] == 0;
    }

    void print(PrintStream out) {
      out.println("\nSlowest test classes, seconds:");
      seconds.entrySet().stream()
          .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
          .limit(SLOWEST)
          .forEach(
              entry -> out.printf(Locale.ROOT, "%8.1f  %s%n", entry.getValue(), entry.getKey()));
      out.println();
      failures.forEach(out::println);
      out.printf(
          "All modules: Tests run: %d, Failures: %d, Errors: %d, Skipped: %d%s (%d runs of Surefire)%n",
          totals[0],
          totals[1],
          totals[2],
          totals[3],
          totals[4] == 0 ? "" : ", passed when run again: " + totals[4],
          runs);
    }
  }
}
