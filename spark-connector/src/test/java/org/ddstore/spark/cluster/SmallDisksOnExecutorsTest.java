// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.ddstore.contract.MountNamespace;
import org.ddstore.spark.DriverJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Small disks, in a mount namespace, under a driver and executors of its own. */
@Tag("system")
@Timeout(400)
@Tag("slow")
class SmallDisksOnExecutorsTest {
  @TempDir Path directory;

  @Test
  void everyWriterNamesTheFullDiskAndHarmsNothing() throws Exception {
    Map<String, String> output = SmallDisksMain.parse(runDriver());

    for (String name : List.of("checked", "ragged checked", "write, checked")) {
      assertThat(output.get(name))
          .as(name)
          .contains("Exception: cannot run 2 ranks here:")
          .contains("in /dev/shm")
          .contains("spark.ddstore.backing=file");
    }
    List<String> attempted = List.of("unchecked", "ragged unchecked", "append", "replace");
    for (String name : attempted) {
      assertThat(output.get(name))
          .as(name)
          .contains(" on 2 ranks failed: rank ")
          .contains("No space left on device", "Remedy: a larger mount")
          .contains("spark.ddstore.backing=file");
    }
    for (String name : List.of("insert", "write", "restore")) {
      assertThat(output.get(name)).as(name).contains("No space left on device", "larger mount");
    }
    assertThat(output.get("to files")).isEqualTo("[100000, 100000]");
    assertThat(output.get("to full disk"))
        .startsWith("StoreJobException: attempt 1 of 2 on 2 ranks failed: rank ")
        .contains("No space left on device", "Remedy: spark.ddstore.directory on a larger disk");
    assertThat(output.get("to full disk, checked"))
        .startsWith("PreflightException: ")
        .contains("spark.ddstore.directory on a larger disk");
    assertThat(output.get("to a disk that cannot be written to"))
        .startsWith("PreflightException: ")
        .contains("is not a directory in which user");
    assertThat(output.get("dump"))
        .startsWith("DumpException: cannot write file:")
        .endsWith("No space left on device: free space, or choose another directory");
    assertThat(output.get("dump to a disk that cannot be written to"))
        .startsWith("DumpException: cannot create file:");
    assertThat(output.get("sort")).contains("No space left on device");
    assertThat(output.get("smaller sort")).isEqualTo("8000");
    assertThat(output.get("kept")).isEqualTo("40000 rows, 39999.0");
    assertThat(output.get("stores")).isEqualTo("[kept]");
    for (String name :
        List.of("left on the full disk", "files of dumps", "executors lost", "left in /dev/shm")) {
      assertThat(output.get(name)).as(name).isEqualTo("[]");
    }
  }

  private String runDriver() throws Exception {
    for (String disk : List.of("disk", "small", "local", "readonly")) {
      Files.createDirectory(directory.resolve(disk));
    }
    List<String> command =
        MountNamespace.of(
            directory,
            "size=16m /dev/shm",
            "size=8m \"$0/small\"",
            "size=24m \"$0/local\"",
            "ro \"$0/readonly\"");
    command.addAll(List.of("env", "SPARK_LOCAL_DIRS=" + directory.resolve("local")));
    command.addAll(DriverJvm.command(SmallDisksMain.class, directory.toString()));
    return DriverJvm.run(command, directory);
  }
}
