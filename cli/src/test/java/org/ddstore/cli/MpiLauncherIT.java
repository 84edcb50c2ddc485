// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.mpi.NeedsMpi;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A command over MPI as a user runs it: the launcher and the jar bring what executors need. */
@Tag("system")
@NeedsMpi
@Timeout(value = 600, unit = TimeUnit.SECONDS)
@Tag("slow")
class MpiLauncherIT {
  @TempDir private Path work;

  @Test
  void demoReadsEveryRowByMpi() throws Exception {
    Outcome outcome =
        new Launcher(work)
            .command(
                "demo --transport mpi --no-shortcut --ranks 2 --rows 2000 --seconds 0.2 "
                    + "--json");

    JsonNode json = MpiCommandsIT.checkDemo(outcome, 2, 2000);
    assertThat(json.get("shares").get("remote").asDouble()).isEqualTo(1);
  }
}
