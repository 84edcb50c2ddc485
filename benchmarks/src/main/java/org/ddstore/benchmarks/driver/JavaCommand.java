// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.util.Utils$;
import scala.jdk.javaapi.CollectionConverters;

/** The command line of another JVM with the class path of this one and the options of executors. */
public final class JavaCommand {
  private JavaCommand() {}

  /** Returns a list to which arguments of the class can be added. */
  public static List<String> of(Class<?> main) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptions().split(" ")));
    String logging = System.getProperty("log4j2.configurationFile");
    if (logging != null) {
      command.add("-Dlog4j2.configurationFile=" + logging);
    }
    String options = System.getProperty("spark.executor.extraJavaOptions", "");
    command.addAll(CollectionConverters.asJava(Utils$.MODULE$.splitCommandString(options)));
    command.add("-XX:-UsePerfData"); // its warnings would mix with the output of the process
    command.addAll(List.of("-Xmx1g", "-cp", System.getProperty("java.class.path"), main.getName()));
    return command;
  }
}
