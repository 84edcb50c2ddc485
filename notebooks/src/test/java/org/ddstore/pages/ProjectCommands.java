// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.ddstore.cli.CommandExtension;
import org.ddstore.cli.Main;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** The commands of this project, and the help that each prints. */
final class ProjectCommands {
  /** The examples that the launcher starts, and their classes. */
  private static final Map<String, String> EXAMPLES =
      Map.of(
          "train", "TrainCommand",
          "vae", "vae.VaeCommand",
          "graph", "Graph",
          "sparse", "Sparse",
          "readme", "Readme");

  /** The commands that the launcher itself runs, apart from the examples and from JMH. */
  private static final List<String> LAUNCHED = List.of("api", "docs", "format", "notebook", "test");

  private final Map<String, String> helps = new TreeMap<>();

  private ProjectCommands() {}

  /** Returns the texts of help by command, such as {@code bench read}. */
  static Map<String, String> helps() throws Exception {
    ProjectCommands commands = new ProjectCommands();
    CommandLine program = new CommandLine(new Main());
    ServiceLoader.load(CommandExtension.class).forEach(program::addSubcommand);
    commands.add("", program);
    for (String name : LAUNCHED) {
      commands.helps.put(name, launcherHelp(name));
    }
    for (Map.Entry<String, String> example : EXAMPLES.entrySet()) {
      String help = example(example.getValue()).getUsageMessage(Ansi.OFF);
      commands.helps.put("example " + example.getKey(), help);
    }
    return commands.helps;
  }

  private void add(String name, CommandLine command) {
    if (command.getCommandSpec().usageMessage().hidden()) {
      return; // writes the pages of this project
    }
    if (command.getSubcommands().isEmpty()) {
      helps.put(name, command.getUsageMessage(Ansi.OFF));
    }
    command.getSubcommands().forEach((child, line) -> add((name + " " + child).strip(), line));
  }

  private static CommandLine example(String className) throws ReflectiveOperationException {
    Class<?> type = Class.forName("org.ddstore.examples." + className);
    for (Method method : type.getDeclaredMethods()) {
      if (method.getName().equals("command") && method.getReturnType() == CommandLine.class) {
        method.setAccessible(true);
        return (CommandLine) method.invoke(null);
      }
    }
    Constructor<?> constructor = type.getDeclaredConstructor();
    return new CommandLine(constructor.newInstance());
  }

  private static String launcherHelp(String command) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", Page.ROOT.resolve("ddstore").toString(), command, "--help");
    if (command.equals("notebook")) { // its jar is packaged after this test
      builder.command(
          Path.of(System.getProperty("java.home"), "bin", "java").toString(),
          "-cp",
          System.getProperty("java.class.path"),
          "org.ddstore.notebook.NotebookCommand",
          Page.ROOT.toString(),
          "run",
          "--help");
    }
    Process process = builder.redirectErrorStream(true).start();
    String help = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException("ddstore %s --help fails: %s".formatted(command, help));
    }
    return help;
  }
}
