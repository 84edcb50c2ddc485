// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.ddstore.spark.backend.files.FilesService;
import org.ddstore.spark.cluster.SmallDisksMain;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of Spark with a transport that a line in a service file adds, in separate executors. */
@Tag("system")
@Tag("slow")
@Timeout(400)
class AddedTransportTest {
  @TempDir Path directory;

  @Test
  void jobsExplainAndErrorsKnowAnAddedTransport() throws Exception {
    Map<String, String> output =
        SmallDisksMain.parse(
            DriverJvm.run(
                DriverJvm.command(FilesService.classPath(directory), AddedTransportMain.class),
                directory));

    assertThat(output.get("named"))
        .isEqualTo("[all by files: files: asked for, all by files: files: asked for]");
    assertThat(output.get("groups")).isEqualTo(output.get("named"));
    assertThat(output.get("auto")).startsWith("[all by tcp, ").doesNotContain("files");
    assertThat(output.get("explained")).isEqualTo("files: files: asked for");
    assertThat(output.get("paths")).contains("files to ");
    assertThat(output.get("doctor")).isEqualTo("[own process, same host, tcp, fabric, mpi, files]");
    assertThat(output.get("illegal"))
        .isEqualTo(
            "setting spark.ddstore.transport is \"pigeon\", legal: auto, tcp, fabric, mpi, files");
    assertThat(output.get("resident"))
        .startsWith("[all by tcp, ")
        .contains(
            "resident stores cannot use transport files, because it ends with the job: using tcp");
  }
}
