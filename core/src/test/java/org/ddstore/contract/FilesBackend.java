package org.ddstore.contract;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.Backing;
import org.ddstore.ReadPath;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.SharedMemoryEndpoint;

/**
 * Ranks of one host that map each other's files.
 *
 * @param root of the stores' files
 * @param lanes of the files over which the group talks
 */
record FilesBackend(Backing backing, String root, String lanes) implements RankBackend {
  @Override
  public List<String> directories() {
    return List.of(root, lanes);
  }

  @Override
  public RankEnv enter(Meeting meeting, Duration timeout) throws IOException {
    StoreOptions options =
        backing == Backing.FILE
            ? StoreOptions.defaults().withFiles(Path.of(root))
            : StoreOptions.defaults().withSharedMemory(Path.of(root));
    return new RankEnv(
        meeting,
        join(meeting, timeout),
        null,
        options,
        owner -> owner == meeting.rank() ? ReadPath.OWN_PROCESS : ReadPath.SAME_HOST);
  }

  private Communicator join(Meeting meeting, Duration timeout) throws IOException {
    try (SharedMemoryEndpoint endpoint =
        SharedMemoryEndpoint.create(Path.of(lanes), meeting.rank(), meeting.ranks())) {
      byte[] address = endpoint.address();
      byte[][] all =
          meeting.tell(
              ByteBuffer.allocate(Long.BYTES + address.length)
                  .putLong(ProcessHandle.current().pid())
                  .put(address)
                  .array());
      List<byte[]> addresses = new ArrayList<>();
      for (byte[] one : all) {
        addresses.add(Arrays.copyOfRange(one, Long.BYTES, one.length));
      }
      return endpoint.connect(
          addresses,
          timeout,
          r ->
              ProcessHandle.of(ByteBuffer.wrap(all[r]).getLong())
                  .map(ProcessHandle::isAlive)
                  .orElse(false));
    }
  }
}
