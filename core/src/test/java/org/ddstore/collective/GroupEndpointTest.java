// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Endpoints that cannot be made or connected. */
@Timeout(60)
class GroupEndpointTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int NONCE_IN_FILE = 24;
  private static final int RANK_IN_FILE = 8;
  private static final int HOST_IN_FILE = 40;
  private static final int NONCE_IN_ADDRESS = 9;
  private static final int HOST_IN_ADDRESS = 25;

  private final List<GroupEndpoint> endpoints = new ArrayList<>();
  private TestDirectory directory;

  @BeforeEach
  void createDirectory() throws IOException {
    directory = TestDirectory.create();
  }

  @AfterEach
  void closeAllAndAssertNoFiles() throws IOException {
    for (GroupEndpoint endpoint : endpoints) {
      endpoint.close();
      endpoint.close();
    }
    directory.close();
  }

  @Test
  void fileIsPrivateAndAddressIsShort() throws IOException {
    byte[] address = create(0, 1).address();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(onlyFile())))
        .isEqualTo("rw-------");
    assertThat(address.length).isLessThan(90);
    assertThat(Files.size(onlyFile())).isEqualTo(LaneMemory.BYTES);
  }

  @ParameterizedTest
  @CsvSource({"-1, 2, rank -1", "2, 2, rank 2", "0, 0, size 0", "0, 16385, size 16385"})
  void refusesARankOrSizeOutOfRange(int rank, int size, String message) {
    assertThatThrownBy(() -> create(rank, size))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message + " outside ");
  }

  @Test
  void connectsOnlyOnce() throws IOException {
    GroupEndpoint endpoint = create(0, 1);
    byte[] address = endpoint.address();
    endpoint.connect(List.of(address), TIMEOUT).close();
    assertThatThrownBy(() -> endpoint.connect(List.of(address), TIMEOUT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: " + endpoint);
    assertThatThrownBy(endpoint::address).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusesTooFewAddresses() throws IOException {
    GroupEndpoint endpoint = create(0, 2);
    assertThatThrownBy(() -> endpoint.connect(List.of(endpoint.address()), TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 addresses for 2 ranks");
  }

  @Test
  void refusesDuplicateRanks() throws IOException {
    GroupEndpoint endpoint = create(0, 2);
    byte[] address = endpoint.address();
    assertThatThrownBy(() -> endpoint.connect(List.of(address, address), TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address 1 of 2 is that of rank 0/2");
  }

  @Test
  void refusesAnotherEndpointOfItsOwnRank() throws IOException {
    GroupEndpoint endpoint = create(0, 1);
    byte[] other = create(0, 1).address();
    assertThatThrownBy(() -> endpoint.connect(List.of(other), TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address 0 is not that of");
  }

  @Test
  void refusesMalformedAddresses() throws IOException {
    for (byte[] bytes : List.of(new byte[0], new byte[] {1, 2, 3}, new byte[] {9, 0, 0})) {
      GroupEndpoint endpoint = create(0, 2);
      byte[] address = endpoint.address();
      assertThatThrownBy(() -> endpoint.connect(List.of(address, bytes), TIMEOUT))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("endpoint address of ");
    }
  }

  @ParameterizedTest
  @CsvSource({
    NONCE_IN_FILE + ", is not the lane of rank 1: its nonce is",
    RANK_IN_FILE + ", its rank is",
    HOST_IN_FILE + ", is not the lane of rank 1: its boot id is"
  })
  void refusesAFileOfAnotherLane(int offset, String message) throws IOException {
    byte[] peer = create(1, 2).address();
    overwrite(onlyFile(), offset);
    assertRefused(peer, IOException.class, message);
  }

  @Test
  void refusesAnAddressThatDoesNotFitTheFile() throws IOException {
    byte[] peer = create(1, 2).address();
    byte[] nonce = peer.clone();
    nonce[NONCE_IN_ADDRESS + 15] ^= 1; // the file's name has the first half
    assertRefused(nonce, IOException.class, "its nonce is");
    // The file opens on a shared file system, but a mapping would not show what the rank writes.
    peer[HOST_IN_ADDRESS] ^= 1;
    assertRefused(peer, IOException.class, "rank 1 is unreachable: it has no file on this host");
  }

  @Test
  void refusesAForeignFile() throws IOException {
    byte[] peer = create(1, 2).address();
    Files.write(onlyFile(), new byte[LaneMemory.BYTES]);
    assertRefused(peer, IOException.class, "its magic is 0");
  }

  @Test
  void refusesATruncatedFile() throws IOException {
    byte[] peer = create(1, 2).address();
    Path file = onlyFile();
    // The owner must not have it mapped any more: touching what was cut off would end the JVM.
    byte[] content = Files.readAllBytes(file);
    endpoints.get(0).close();
    Files.write(file, Arrays.copyOf(content, 1000));
    assertRefused(peer, IOException.class, "has 1,000 bytes");
    Files.delete(file);
  }

  @Test
  void refusesALinkInPlaceOfTheFile() throws IOException {
    byte[] peer = create(1, 2).address();
    Path file = onlyFile();
    Path moved = file.resolveSibling("moved");
    Files.move(file, moved);
    Files.createSymbolicLink(file, moved);
    assertRefused(peer, IOException.class, file.toString());
    Files.delete(moved);
  }

  @Test
  void refusesARankWhoseFileIsGone() throws IOException {
    GroupEndpoint gone = create(1, 2);
    byte[] peer = gone.address();
    gone.close();
    assertRefused(peer, NoSuchFileException.class, "collective-1-");
  }

  @Test
  void namesARankThatDoesNotConnect() throws IOException {
    GroupEndpoint endpoint = create(0, 2);
    List<byte[]> addresses = List.of(endpoint.address(), create(1, 2).address());
    assertThatThrownBy(() -> endpoint.connect(addresses, Duration.ofMillis(300)))
        .isInstanceOf(DeadlineExceededException.class)
        .hasMessageContaining("connect()")
        .hasMessageContaining("rank 1 has not called any collective");
  }

  @Test
  void failedConnectReachesConnectedRanks() throws Exception {
    GroupEndpoint first = create(0, 2);
    GroupEndpoint second = create(1, 2);
    byte[] wrong = first.address();
    wrong[NONCE_IN_ADDRESS + 15] ^= 1;
    List<byte[]> addresses = List.of(first.address(), second.address());
    List<byte[]> wrongAddresses = List.of(wrong, second.address());
    // Mapped before the name goes: that of the second, which fails.
    Communicator mapped = first.attach(addresses, Duration.ofSeconds(30), new SplitGroups());
    assertThatThrownBy(() -> second.connect(wrongAddresses, TIMEOUT))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(mapped::barrier)
        .isExactlyInstanceOf(RankFailedException.class)
        .hasMessageContaining("rank 1 aborted its collectives")
        .hasMessageContaining("nonce");
    mapped.close();
    first.deleteName();
  }

  private void assertRefused(byte[] peer, Class<? extends Throwable> type, String message)
      throws IOException {
    GroupEndpoint endpoint = create(0, 2);
    List<byte[]> addresses = List.of(endpoint.address(), peer);
    assertThatThrownBy(() -> endpoint.connect(addresses, TIMEOUT))
        .isInstanceOf(type)
        .hasMessageContaining(message);
  }

  private GroupEndpoint create(int rank, int size) throws IOException {
    LaneExchange ofRank = LaneExchange.overFiles(directory.ofProcess()); // maps the others' files
    GroupEndpoint endpoint = GroupEndpoint.create(ofRank, rank, size);
    endpoints.add(endpoint);
    return endpoint;
  }

  private Path onlyFile() throws IOException {
    return directory.lanes().get(0);
  }

  private static void overwrite(Path file, long at) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {99, 99, 99, 99}), at);
    }
  }
}
