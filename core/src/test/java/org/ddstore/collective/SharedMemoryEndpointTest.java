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
import org.ddstore.DeadlineExceededException;
import org.ddstore.RankFailedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Endpoints that cannot be made or connected. */
@Timeout(60)
class SharedMemoryEndpointTest {
  private static final Duration TIMEOUT = Duration.ofMillis(300);
  private static final int NONCE_IN_FILE = 24;
  private static final int RANK_IN_FILE = 8;

  private final List<SharedMemoryEndpoint> endpoints = new ArrayList<>();
  private Path directory;

  @BeforeEach
  void createDirectory() throws IOException {
    directory = LaneDirectories.create();
  }

  @AfterEach
  void closeAllAndFindNothing() throws IOException {
    for (SharedMemoryEndpoint endpoint : endpoints) {
      endpoint.close();
      endpoint.close();
    }
    assertThat(directory).isEmptyDirectory();
    Files.delete(directory);
  }

  @Test
  void theFileIsForThisUserAloneAndItsAddressIsSmall() throws IOException {
    byte[] address = create(0, 1).address();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(onlyFile())))
        .isEqualTo("rw-------");
    assertThat(address.length).isLessThan(onlyFile().toString().length() + 30);
    assertThat(Files.size(onlyFile())).isEqualTo(Lane.BYTES);
  }

  @ParameterizedTest
  @CsvSource({"-1, 2, rank -1", "2, 2, rank 2", "0, 0, size 0", "0, 4097, size 4097"})
  void refusesARankOrSizeOutOfRange(int rank, int size, String message) {
    assertThatThrownBy(() -> SharedMemoryEndpoint.create(directory, rank, size))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message + " outside ");
  }

  @Test
  void refusesADirectoryThatIsNotThere() {
    assertThatThrownBy(() -> SharedMemoryEndpoint.create(directory.resolve("no"), 0, 1))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void isUsedOnce() throws IOException {
    SharedMemoryEndpoint endpoint = create(0, 1);
    byte[] address = endpoint.address();
    endpoint.connect(List.of(address), TIMEOUT).close();
    assertThatThrownBy(() -> endpoint.connect(List.of(address), TIMEOUT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: " + endpoint);
    assertThatThrownBy(endpoint::address).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusesTooFewAddresses() throws IOException {
    SharedMemoryEndpoint endpoint = create(0, 2);
    assertThatThrownBy(() -> endpoint.connect(List.of(endpoint.address()), TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 addresses for 2 ranks");
  }

  @Test
  void refusesDuplicateRanks() throws IOException {
    SharedMemoryEndpoint endpoint = create(0, 2);
    byte[] address = endpoint.address();
    assertThatThrownBy(() -> endpoint.connect(List.of(address, address), TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address 1 of 2 is that of rank 0/2");
  }

  @Test
  void refusesAnotherEndpointOfItsOwnRank() throws IOException {
    SharedMemoryEndpoint endpoint = create(0, 1);
    byte[] other = create(0, 1).address();
    assertThatThrownBy(() -> endpoint.connect(List.of(other), TIMEOUT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address 0 is not that of");
  }

  @Test
  void refusesBytesThatAreNoAddress() throws IOException {
    for (byte[] bytes : List.of(new byte[0], new byte[] {1, 2, 3}, new byte[] {9, 0, 0})) {
      SharedMemoryEndpoint endpoint = create(0, 2);
      byte[] address = endpoint.address();
      assertThatThrownBy(() -> endpoint.connect(List.of(address, bytes), TIMEOUT))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("endpoint address of ");
    }
  }

  @Test
  void refusesAWrongNonceInTheAddress() throws IOException {
    byte[] peer = create(1, 2).address();
    peer[20] ^= 1;
    assertRefused(peer, IOException.class, "its nonce is");
  }

  @Test
  void refusesAFileWithAnotherNonce() throws IOException {
    byte[] peer = create(1, 2).address();
    overwrite(onlyFile(), NONCE_IN_FILE);
    assertRefused(peer, IOException.class, "is not the lane of rank 1: its nonce is");
  }

  @Test
  void refusesAFileOfAnotherRank() throws IOException {
    byte[] peer = create(1, 2).address();
    overwrite(onlyFile(), RANK_IN_FILE);
    assertRefused(peer, IOException.class, "its rank is");
  }

  @Test
  void refusesAForeignFile() throws IOException {
    byte[] peer = create(1, 2).address();
    Files.write(onlyFile(), new byte[Lane.BYTES]);
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
  void refusesARankThatIsNotOnThisHost() throws IOException {
    SharedMemoryEndpoint gone = create(1, 2);
    byte[] peer = gone.address();
    gone.close();
    assertRefused(peer, NoSuchFileException.class, "collective-1-");
  }

  @Test
  void aRankThatDoesNotConnectIsNamed() throws IOException {
    SharedMemoryEndpoint endpoint = create(0, 2);
    List<byte[]> addresses = List.of(endpoint.address(), create(1, 2).address());
    assertThatThrownBy(() -> endpoint.connect(addresses, TIMEOUT))
        .isInstanceOf(DeadlineExceededException.class)
        .hasMessageContaining("connect()")
        .hasMessageContaining("rank 1 has not called any collective");
  }

  @Test
  void aRankThatCannotConnectTellsThoseThatCould() throws Exception {
    SharedMemoryEndpoint first = create(0, 2);
    SharedMemoryEndpoint second = create(1, 2);
    byte[] wrong = first.address();
    wrong[20] ^= 1;
    List<byte[]> addresses = List.of(first.address(), second.address());
    List<byte[]> wrongAddresses = List.of(wrong, second.address());
    Thread connecting =
        new Thread(
            () ->
                assertThatThrownBy(() -> second.connect(wrongAddresses, TIMEOUT))
                    .isInstanceOf(IOException.class));
    // Mapped before the name goes: connect() maps first and waits then.
    LivenessProbe startsPeer =
        rank -> {
          if (connecting.getState() == Thread.State.NEW) {
            connecting.start();
          }
          return true;
        };
    assertThatThrownBy(() -> first.connect(addresses, Duration.ofSeconds(30), startsPeer))
        .isExactlyInstanceOf(RankFailedException.class)
        .hasMessageContaining("rank 1 gave up")
        .hasMessageContaining("nonce");
    connecting.join();
  }

  private void assertRefused(byte[] peer, Class<? extends Throwable> type, String message)
      throws IOException {
    SharedMemoryEndpoint endpoint = create(0, 2);
    List<byte[]> addresses = List.of(endpoint.address(), peer);
    assertThatThrownBy(() -> endpoint.connect(addresses, TIMEOUT))
        .isInstanceOf(type)
        .hasMessageContaining(message);
  }

  private SharedMemoryEndpoint create(int rank, int size) throws IOException {
    SharedMemoryEndpoint endpoint = SharedMemoryEndpoint.create(directory, rank, size);
    endpoints.add(endpoint);
    return endpoint;
  }

  private Path onlyFile() throws IOException {
    try (var files = Files.list(directory)) {
      return files.findFirst().orElseThrow();
    }
  }

  private static void overwrite(Path file, long at) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {99, 99, 99, 99}), at);
    }
  }
}
