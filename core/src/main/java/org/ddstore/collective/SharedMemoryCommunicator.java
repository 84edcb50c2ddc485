package org.ddstore.collective;

import java.time.Duration;
import java.util.List;

/** A communicator over mapped files; made by {@link SharedMemoryEndpoint#connect}. */
final class SharedMemoryCommunicator extends Communicator {
  private final List<LaneFile> files;

  /**
   * @param files by rank; this communicator unmaps them
   */
  SharedMemoryCommunicator(List<LaneFile> files, int rank, Duration timeout, LivenessProbe probe) {
    super(new Rounds(rank, lanes(files), probe, timeout));
    this.files = List.copyOf(files);
  }

  /** Returns once all ranks have mapped all files. Collective. */
  void connect() {
    exchange("connect()", () -> new byte[0]);
  }

  @Override
  String kind() {
    return "shared-memory";
  }

  @Override
  void release() {
    files.forEach(LaneFile::close);
  }

  private static Lane[] lanes(List<LaneFile> files) {
    return files.stream().map(LaneFile::lane).toArray(Lane[]::new);
  }
}
