package org.ddstore.mpi;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * What a rank tells the others before they join.
 *
 * @param free whether this JVM may enter MPI with others now
 * @param late whether this rank has waited long enough for all to be free
 * @param process random, of the JVM
 * @param world the number of the world that the JVM is in; 0 if it is in none
 * @param worldRank its rank there
 * @param trouble why its world is of no use any more; empty if it is
 * @param job the number that this rank proposes for a new world
 * @param color of the rank's group
 * @param host equal for processes that share memory
 * @param hasRdma whether the host has an RDMA device
 * @param mayReadProcesses whether it reads memory of other processes without their help
 * @param choices what the user has said of how MPI is to work, as text
 * @param pid its number on its host
 * @param name of the process, for people
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
      throw new UncheckedIOException(e);
    }
  }
}
