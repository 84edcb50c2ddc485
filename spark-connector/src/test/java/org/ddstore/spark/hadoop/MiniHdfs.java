// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.GcTimeMonitor;
import org.apache.hadoop.util.VersionInfo;
import org.ddstore.checkpoint.CheckpointStorage;

/**
 * An HDFS in this JVM: one NameNode and one DataNode on 127.0.0.1. Its user is that of the JVM, who
 * has all permissions. Clients use the default settings of Hadoop.
 */
public final class MiniHdfs implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Threads of clients of Hadoop that end with the JVM. */
  private static final Pattern LASTING = Pattern.compile(".*(DataReferenceCleaner|PeerCache).*");

  private final Set<Thread> others = new HashSet<>(inHadoop());
  private final Set<UserGroupInformation> visitors = new HashSet<>();
  private final MiniDFSCluster cluster;
  private final String uri;
  private DataNodeProperties stopped;

  private MiniHdfs(java.nio.file.Path folder) throws IOException {
    assertThat(MiniDFSCluster.class.getProtectionDomain().getCodeSource().getLocation().toString())
        .as("HDFS of the version of the client: set hadoop.version in the root pom")
        .endsWith("-" + VersionInfo.getVersion() + ".jar");
    cluster =
        new MiniDFSCluster.Builder(new Configuration(), folder.resolve("hdfs").toFile())
            .numDataNodes(1)
            .build();
    uri = "hdfs://127.0.0.1:" + cluster.getNameNodePort();
  }

  /**
   * Starts an HDFS. Blocks until files can be written.
   *
   * @param folder folder in which the folder of the NameNode and the DataNode is created
   */
  public static MiniHdfs start(java.nio.file.Path folder) throws IOException {
    MiniHdfs hdfs = new MiniHdfs(folder);
    hdfs.cluster.waitActive();
    return hdfs;
  }

  /** Returns the URI of the file system, with a path. */
  public String uri(String path) {
    return uri + path;
  }

  /** Returns the file system of the user of this JVM, which {@link #close} closes. */
  public DistributedFileSystem files() throws IOException {
    return (DistributedFileSystem) FileSystem.get(URI.create(uri), new Configuration());
  }

  /** Returns the storage of a directory. */
  CheckpointStorage storage(String directory) throws IOException {
    return HadoopStorage.of(new Path(uri(directory)), new Configuration());
  }

  /** Returns the storage of a directory as another user, who is not a superuser, uses it. */
  CheckpointStorage storage(String directory, String user) throws Exception {
    UserGroupInformation visitor = UserGroupInformation.createRemoteUser(user);
    visitors.add(visitor);
    PrivilegedExceptionAction<CheckpointStorage> open = () -> storage(directory);
    return visitor.doAs(open);
  }

  void stopDataNode() {
    stopped = cluster.stopDataNode(0);
  }

  void startDataNode() throws IOException {
    assertThat(cluster.restartDataNode(stopped, true)).isTrue();
    cluster.waitActive();
  }

  void stopNameNode() {
    cluster.shutdownNameNode(0);
  }

  /** Starts the NameNode again, on the same port. */
  void startNameNode() throws IOException {
    cluster.restartNameNode(0);
  }

  /** Changes the bytes of the first block of a file on the disk of the DataNode. */
  void damageBlock(String path) throws IOException {
    cluster.corruptReplica(0, files().getClient().getLocatedBlocks(path, 0).get(0).getBlock());
  }

  /** Returns the threads that run code of Hadoop, apart from those that end with the JVM. */
  private static List<Thread> inHadoop() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(thread -> !LASTING.matcher(thread.getKey().getName()).matches())
        .filter(
            thread ->
                Stream.of(thread.getValue())
                    .anyMatch(frame -> frame.getClassName().startsWith("org.apache.hadoop.")))
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Whether a thread can outlive its node, or for a minute the last file that a client wrote. The
   * command processor of a DataNode was seen to wait on after its shutdown on a busy machine.
   */
  private static boolean ignoresShutdown(Thread thread) {
    return thread instanceof GcTimeMonitor
        || thread.getName().startsWith("LeaseRenewer:")
        || thread.getName().contains("Command processor");
  }

  /** Ends all nodes and clients in this JVM, and deletes the files of the nodes. */
  @Override
  public void close() throws IOException {
    for (UserGroupInformation visitor : visitors) {
      FileSystem.closeAllForUGI(visitor);
    }
    files().close();
    cluster.shutdown(true);
    await("threads of HDFS end")
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              inHadoop().stream().filter(MiniHdfs::ignoresShutdown).forEach(Thread::interrupt);
              assertThat(inHadoop()).isSubsetOf(others);
            });
  }
}
