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
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.ReadPath;

/**
 * Ranks that read each other's rows, and their own, by processes outside of Java.
 *
 * @param token token of all stores
 * @param root directory of the stores' files
 * @param program path of the {@link ReaderTool}
 * @param byPort whether rows are read over data ports; else by memory
 */
record OutsideRanks(StoreToken token, String root, String program, boolean byPort)
    implements RankBackend {
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

  static OutsideRanks byMemory(Path root) {
    return byMemory(root, ReaderTool.PROGRAM);
  }

  static OutsideRanks byMemory(Path root, Path program) {
    return new OutsideRanks(StoreToken.random(), root.toString(), program.toString(), false);
  }

  static OutsideRanks byPort(Path root) {
    return new OutsideRanks(
        StoreToken.random(), root.toString(), ReaderTool.PROGRAM.toString(), true);
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
        wire.oneSided(
            calls -> new OutsideRows(wire, calls, Path.of(program), Path.of(root), byPort)),
        StoreOptions.defaults()
            .sharedMemory(Path.of(root))
            .shortcut(false)
            .readTimeout(READ_TIMEOUT),
        owner -> ReadPath.REMOTE);
  }
}
