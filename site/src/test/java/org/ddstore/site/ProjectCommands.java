// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.cli.CommandExtension;
import org.ddstore.cli.Main;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** The commands of this project, and the help that each prints. */
final class ProjectCommands {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** The examples that the launcher starts, and their classes. */
  private static final Map<String, String> EXAMPLES =
      Map.of(
          "train", "TrainCommand",
          "vae", "vae.VaeCommand",
          "graph", "Graph",
          "sparse", "Sparse",
          "readme", "Readme");

  private static final Pattern LAUNCHED = Pattern.compile("(?m)^  (\\w+)\\)$");
  private static final Pattern NAMES = Pattern.compile("example ([a-z|]+) ");

  private final Map<String, String> helps = new TreeMap<>();

  private ProjectCommands() {}

  /** Returns the texts of help by command, such as {@code bench read}. */
  static Map<String, String> helps() throws Exception {
    ProjectCommands commands = new ProjectCommands();
    CommandLine program = new CommandLine(new Main());
    ServiceLoader.load(CommandExtension.class).forEach(program::addSubcommand);
    commands.add("", program);
    for (String name : launched()) {
      if (name.equals("example")) {
        commands.addExamples();
      } else if (!name.equals("jmh")) { // its options are those of JMH
        commands.helps.put(name, launcherHelp(name));
      }
    }
    return commands.helps;
  }

  private void add(String name, CommandLine command) {
    if (command.getSubcommands().isEmpty()) {
      helps.put(name, command.getUsageMessage(Ansi.OFF));
    }
    command.getSubcommands().forEach((child, line) -> add((name + " " + child).strip(), line));
  }

  private void addExamples() throws Exception {
    Matcher names = NAMES.matcher(launcherHelp("example"));
    if (!names.find()) {
      throw new IllegalStateException("the help of example names no examples");
    }
    for (String name : names.group(1).split("\\|", -1)) {
      helps.put("example " + name, example(name).getUsageMessage(Ansi.OFF));
    }
  }

  private static CommandLine example(String name) throws ReflectiveOperationException {
    Class<?> type = Class.forName("org.ddstore.examples." + EXAMPLES.get(name));
    for (Method method : type.getDeclaredMethods()) {
      if (method.getName().equals("command") && method.getReturnType() == CommandLine.class) {
        method.setAccessible(true);
        return (CommandLine) method.invoke(null);
      }
    }
    Constructor<?> constructor = type.getDeclaredConstructor();
    return new CommandLine(constructor.newInstance());
  }

  /** Returns the commands that the launcher itself runs: the cases of its last branch. */
  private static List<String> launched() throws IOException {
    String script = Files.readString(ROOT.resolve("ddstore"));
    Matcher matcher = LAUNCHED.matcher(script.substring(script.lastIndexOf("\ncase ${1:-} in")));
    List<String> names = new ArrayList<>();
    while (matcher.find()) {
      names.add(matcher.group(1));
    }
    return names;
  }

  private static String launcherHelp(String command) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", ROOT.resolve("ddstore").toString(), command, "--help");
    builder.environment().put("DDSTORE_UNDER_TEST", "1");
    Process process = builder.redirectErrorStream(true).start();
    String help = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException("ddstore %s --help fails: %s".formatted(command, help));
    }
    return help;
  }
}
