// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.spark.launcher.JavaModuleOptions;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.contract.FilesBackend;
import org.ddstore.contract.Meeting;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.fabric.FabricProvider;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.types.ReadPath;

/**
 * Ranks that read each other's rows, and their own, by libfabric over its provider for TCP, and
 * whose collectives are messages.
 *
 * @param token of all stores
 * @param root of the stores' files
 */
public record FabricBackend(StoreToken token, String root) implements RankBackend {
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

  public static FabricBackend of(Path root) {
    return new FabricBackend(StoreToken.random(), root.toString());
  }

  /** Returns the reason why libfabric cannot be used here; null if it can. */
  public static String missing() {
    OneSidedChoice choice = choice("127.0.0.1");
    return choice.isAvailable() ? null : choice.detail();
  }

  static OneSidedChoice choice(String host) {
    return new FabricProvider().choose(new OneSidedOptions("tcp", "", host, 0));
  }

  /** The one transport of a session. */
  public static OneSidedTransport open(WireSession session) {
    return session.oneSided(
        calls -> new FabricProvider().open(choice(session.local().host()), calls));
  }

  @Override
  public List<String> directories() {
    return List.of(root);
  }

  @Override
  public List<String> jvmOptions() {
    return List.of(JavaModuleOptions.defaultModuleOptions().split(" "));
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    WireSession wire = TcpBackend.open(token, TcpBackend.options(false, meeting.address()));
    Communicator group = FilesBackend.join(wire.lanes(Path.of(root), false), meeting, timeout);
    return new RankEnv(
        meeting,
        group,
        open(wire),
        StoreOptions.defaults()
            .sharedMemory(Path.of(root))
            .shortcut(false)
            .readTimeout(READ_TIMEOUT),
        owner -> ReadPath.REMOTE);
  }
}
