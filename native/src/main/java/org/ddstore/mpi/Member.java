// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The information that a rank exchanges with the others before they join.
 *
 * @param free whether this JVM can enter MPI with others now
 * @param late whether this rank has exceeded its time to wait for all to be free
 * @param process random number that identifies the JVM
 * @param world number of the world that the JVM is in; 0 if none
 * @param worldRank rank of the JVM in that world
 * @param trouble reason why that world is unusable; empty if it is usable
 * @param job number that this rank proposes for a new world
 * @param color color of the rank's group
 * @param host text that is equal for processes that share memory
 * @param hasRdma whether the host has an RDMA device
 * @param mayReadProcesses whether it can read memory of other processes without their help
 * @param choices MPI settings of the user, as text
 * @param pid process id on its host
 * @param name human-readable name of the process
 */
record Member(
    boolean free,
    boolean late,
    long process,
    int world,
    int worldRank,
    String trouble,
    int job,
    int color,
    String host,
    boolean hasRdma,
    boolean mayReadProcesses,
    String choices,
    long pid,
    String name) {

  byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeBoolean(free);
      out.writeBoolean(late);
      out.writeLong(process);
      out.writeInt(world);
      out.writeInt(worldRank);
      out.writeUTF(trouble);
      out.writeInt(job);
      out.writeInt(color);
      out.writeUTF(host);
      out.writeBoolean(hasRdma);
      out.writeBoolean(mayReadProcesses);
      out.writeUTF(choices);
      out.writeLong(pid);
      out.writeUTF(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Parses {@link #toBytes()}; throws {@link IllegalArgumentException} if it is invalid. */
  static Member parse(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return new Member(
          in.readBoolean(),
          in.readBoolean(),
          in.readLong(),
          in.readInt(),
          in.readInt(),
          in.readUTF(),
          in.readInt(),
          in.readInt(),
          in.readUTF(),
          in.readBoolean(),
          in.readBoolean(),
          in.readUTF(),
          in.readLong(),
          in.readUTF());
    } catch (IOException e) {
      throw new IllegalArgumentException("invalid member of %d bytes".formatted(bytes.length), e);
    }
  }
}
