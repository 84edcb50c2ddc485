// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import org.ddstore.local.EmbeddedSpark;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The path of the data of a command, with {@code --input} or without, as a mixin. */
final class InputPath {
  @Parameters(arity = "0..1", paramLabel = "PATH", description = "The same as --input PATH.")
  private String path;

  @Option(
      names = "--input",
      paramLabel = "PATH",
      description = "File, directory or pattern, see --format.")
  private String input;

  @Mixin InputOptions options;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * Returns the path as Spark reads it, or null if there is none.
   *
   * @throws ParameterException if there are two
   * @throws org.ddstore.types.DDStoreException if it cannot be read
   */
  String orNull() {
    if (path != null && input != null) {
      throw new ParameterException(
          command.commandLine(), "two inputs, \"%s\" and \"%s\": name one".formatted(path, input));
    }
    String found = path == null ? input : path;
    return found == null || EmbeddedSpark.isSubmitted()
        ? found
        : InputCheck.checked(found, options);
  }

  /**
   * Returns the path as Spark reads it.
   *
   * @throws ParameterException if there is none, or two
   * @throws org.ddstore.types.DDStoreException if it cannot be read
   */
  String required() {
    String found = orNull();
    if (found == null) {
      throw new ParameterException(
          command.commandLine(),
          "no input: name the data, as in ./%s PATH".formatted(command.qualifiedName()));
    }
    return found;
  }
}
