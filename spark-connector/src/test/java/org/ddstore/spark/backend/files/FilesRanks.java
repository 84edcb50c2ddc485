// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.files;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.launcher.JavaModuleOptions;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Meeting;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.TransportChoice;
import org.ddstore.spark.backend.TransportStart;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.ReadPath;

/**
 * Ranks that agree on the {@code files} transport as the ranks of a job do, by its name.
 *
 * @param token token of all stores
 * @param root directory of the stores' files
 * @param classPath class path with the line of {@link FilesService}
 */
record FilesRanks(StoreToken token, String root, String classPath) implements RankBackend {
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

  /** Outlives scenarios, as an executor does. */
  private static WireSession session;

  @Override
  public List<String> directories() {
    return List.of(root);
  }

  @Override
  public List<String> jvmOptions() {
    List<String> options =
        new ArrayList<>(List.of(JavaModuleOptions.defaultModuleOptions().split(" ")));
    options.addAll(List.of("-cp", classPath)); // the last one counts
    return options;
  }

  private static synchronized WireSession session(StoreToken token, String host) {
    if (session == null) {
      session = Wire.join(token, WireOptions.of(new SparkConf(false), null, host));
    }
    return session;
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    WireSession network = session(token, meeting.address());
    Communicator group = FilesBackend.join(network.lanes(Path.of(root), false), meeting, timeout);
    Settings settings = Settings.of(Map.of("spark.ddstore.transport", "files"));
    TransportChoice choice =
        TransportChoice.of(
            settings.transport(),
            new RankPlace(meeting.rank(), meeting.address(), 0, false, settings));
    OpenTransport open =
        choice.open(
            Arrays.asList(meeting.tell(choice.offer())),
            new TransportStart(network, group, 0, READ_TIMEOUT, timeout));
    return new RankEnv(
        meeting,
        group,
        open.transport(),
        StoreOptions.defaults()
            .sharedMemory(Path.of(root))
            .shortcut(false)
            .readTimeout(READ_TIMEOUT),
        owner -> ReadPath.REMOTE) {
      @Override
      public void close() {
        super.close();
        open.close();
      }
    };
  }
}
