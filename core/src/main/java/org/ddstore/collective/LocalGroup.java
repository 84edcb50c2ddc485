package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** Groups whose ranks are threads of this JVM. */
public final class LocalGroup {
  private static final int CACHE_LINE_BYTES = 64;
  private static final int MAX_SIZE = 4096;

  private LocalGroup() {}

  /**
   * Makes a group and gives the communicator of each rank, in rank order; each is closed by its
   * user. Local, does not block. Takes 0.5 MiB of direct memory a rank, which is free once no
   * communicator of the group is reachable.
   *
   * @param size of [1, 4096]
   * @param timeout how long a collective may wait, of (0, 365 days]
   */
  public static List<Communicator> create(int size, Duration timeout) {
    if (size < 1 || size > MAX_SIZE) {
      throw new IllegalArgumentException("size " + size + " outside [1, " + MAX_SIZE + "]");
    }
    Communicator.checkTimeout(timeout);
    Lane[] lanes =
        IntStream.range(0, size)
            .mapToObj(
                rank ->
                    new Lane(
                        ByteBuffer.allocateDirect(Lane.BYTES + CACHE_LINE_BYTES)
                            .alignedSlice(CACHE_LINE_BYTES)))
            .toArray(Lane[]::new);
    return IntStream.range(0, size)
        .<Communicator>mapToObj(
            rank ->
                new LocalCommunicator(new Rounds(rank, lanes, LivenessProbe.ALWAYS_ALIVE, timeout)))
        .toList();
  }

  private static final class LocalCommunicator extends Communicator {
    LocalCommunicator(Rounds rounds) {
      super(rounds);
    }

    @Override
    String kind() {
      return "local";
    }

    @Override
    void release() {} // other ranks may still look at this rank's lane
  }
}
