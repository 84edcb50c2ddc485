// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.spark.types.PreflightException.Problem;

/**
 * The rule that segment files must be on a local disk or in memory. Processes map only files of
 * their own host, but the server of a network file system may revoke a mapped page, which kills the
 * process with SIGBUS.
 */
public final class LocalDirectory {
  private static final Set<String> NETWORK =
      words(
          "nfs nfs3 nfs4 lustre gpfs cifs smb3 smbfs ceph beegfs afs orangefs pvfs2 panfs gfs2"
              + " ocfs2 wekafs glusterfs acfs ncpfs coda");

  /** FUSE programs that keep files on other hosts. */
  private static final Set<String> NETWORK_FUSE =
      words(
          "sshfs glusterfs ceph ceph-fuse s3fs goofys mountpoint-s3 gcsfuse rclone blobfuse"
              + " blobfuse2 juicefs alluxio alluxio-fuse dfuse daos mfs moosefs seaweedfs lustre"
              + " beegfs");

  private static final String FUSE = "fuse.";

  private LocalDirectory() {}

  private static Set<String> words(String text) {
    return Set.of(text.split(" ", -1));
  }

  public static Optional<Problem> problem(HostFacts host) {
    return isNetwork(host.sharedMemoryFileSystem())
        ? Optional.of(
            new Problem(
                "directory %s on %s is on a network file system (%s): mapped files need a local disk"
                    .formatted(
                        host.sharedMemoryPath(), host.hostName(), host.sharedMemoryFileSystem()),
                OptionKeys.SETTING_DIRECTORY
                    + "=<a directory on a local disk of every executor>, or "
                    + OptionKeys.SETTING_BACKING
                    + "=shm or direct"))
        : Optional.empty();
  }

  public static Optional<String> warning(HostFacts host) {
    String type = host.sharedMemoryFileSystem();
    return !isNetwork(type) && isUncertain(type)
        ? Optional.of(
            "directory %s on %s is on a file system of type %s, which may be remote: mapped files need a local disk; %s sets another directory"
                .formatted(
                    host.sharedMemoryPath(), host.hostName(), type, OptionKeys.SETTING_DIRECTORY))
        : Optional.empty();
  }

  private static boolean isNetwork(String type) {
    if (type == null) {
      return false;
    }
    String name = type.toLowerCase(Locale.ROOT);
    return NETWORK.contains(name)
        || (name.startsWith(FUSE) && NETWORK_FUSE.contains(name.substring(FUSE.length())));
  }

  private static boolean isUncertain(String type) {
    return type != null
        && ((type.startsWith("fuse") && !type.equals("fuseblk"))
            || type.equals("9p")
            || type.equals("virtiofs"));
  }
}
