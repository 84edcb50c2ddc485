// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.Progressable;

/**
 * A local file system under {@code faulty:///}, whose disk is full after a number of bytes per file
 * (if that is 0, by the error of Hadoop for full local disks), or which refuses access to paths
 * that contain a word, or never creates some files. For driver and executors.
 */
public final class FaultyFileSystem extends RawLocalFileSystem {
  public static final URI ROOT = URI.create("faulty:///");

  /** Setting of Hadoop for the class of this file system. */
  public static final String CLASS_KEY = "fs.faulty.impl";

  /** Setting of Hadoop for the number of bytes that a file can have. */
  public static final String ROOM_KEY = "fs.faulty.room";

  /** Setting of Hadoop for the word in paths to which access is refused. */
  public static final String REFUSED_KEY = "fs.faulty.refused";

  /** Setting of Hadoop for the word in names of new files whose creation never ends. */
  public static final String STALLED_KEY = "fs.faulty.stalled";

  /** Returns settings in which opened file systems are not shared with others. */
  public static Configuration settings(long room, String refused) {
    Configuration settings = new Configuration();
    settings.set(CLASS_KEY, FaultyFileSystem.class.getName());
    settings.setBoolean("fs.faulty.impl.disable.cache", true);
    settings.setLong(ROOM_KEY, room);
    settings.set(REFUSED_KEY, refused);
    return settings;
  }

  @Override
  public URI getUri() {
    return ROOT;
  }

  @Override
  public String getScheme() {
    return ROOT.getScheme();
  }

  private void check(Path path) throws IOException {
    String refused = getConf().get(REFUSED_KEY, "");
    if (!refused.isEmpty() && path.toString().contains(refused)) {
      throw new AccessControlException("Permission denied: user=test, inode=\"" + path + "\"");
    }
  }

  private void stall(Path path) throws IOException {
    String stalled = getConf().get(STALLED_KEY, "");
    if (!stalled.isEmpty() && path.getName().contains(stalled)) {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted before " + path);
      }
    }
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    check(path);
    return super.open(path, bufferSize);
  }

  @Override
  public boolean mkdirs(Path path) throws IOException {
    check(path);
    return super.mkdirs(path);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    check(path);
    return super.listStatus(path);
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    check(path);
    stall(path);
    long room = getConf().getLong(ROOM_KEY, Long.MAX_VALUE);
    if (room == 0) {
      Path full = new Path("/dev/full");
      return super.create(full, null, true, bufferSize, replication, blockSize, progress);
    }
    OutputStream all =
        super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress);
    return new FSDataOutputStream(new Limited(all, room), null);
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return create(path, null, overwrite, bufferSize, replication, blockSize, progress);
  }

  /** A stream to a disk that becomes full. Like HDFS, it throws its exception again when closed. */
  private static final class Limited extends FilterOutputStream {
    private long room;
    private IOException failure;

    Limited(OutputStream out, long room) {
      super(out);
      this.room = room;
    }

    @Override
    public void write(int value) throws IOException {
      take(1);
      out.write(value);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      take(length);
      out.write(bytes, from, length);
    }

    private void take(int length) throws IOException {
      if (length > room) {
        failure = new IOException("No space left on device");
        throw failure;
      }
      room -= length;
    }

    @Override
    public void close() throws IOException {
      out.close();
      if (failure != null) {
        throw failure;
      }
    }
  }
}
