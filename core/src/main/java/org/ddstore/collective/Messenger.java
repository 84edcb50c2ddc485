package org.ddstore.collective;

import java.nio.ByteBuffer;
import org.ddstore.types.ProcessAddress;

/**
 * Carries the messages of one group between its processes. Messages to one process arrive in the
 * order in which they were sent, as long as the connection lives; when it breaks, those under way
 * may be lost, and the next {@link #send} makes a new connection. All methods may be called by any
 * thread.
 */
public interface Messenger {
  /** What a process does with what comes to it. Called by threads that must not be held up. */
  interface Receiver {
    /**
     * A message has come. Messages of one process come one after the other. Sends at most a few
     * messages itself, and waits for nothing.
     *
     * @param message valid during the call only
     * @throws MalformedMessageException if it is none of ours: the connection is to be closed, and
     *     the reason logged
     */
    void received(ByteBuffer message);

    /**
     * A connection has ended: messages sent to the process, and by it, may be lost. Also called if
     * no connection could be made for a message.
     */
    void disconnected(ProcessAddress process);
  }

  /** Where the other processes reach this one. */
  ProcessAddress local();

  /** Who gets the messages; set once, before the first message can come. */
  void setReceiver(Receiver receiver);

  /**
   * Sends a message, without waiting for the other process. Throws nothing that the network or the
   * other process is to blame for: the message is lost then, and the receiver told. Once the
   * messenger is closed, does nothing.
   *
   * @param to may be this process
   * @param message of at most 300,000 bytes from position to limit; the caller may reuse it once
   *     this returns
   */
  void send(ProcessAddress to, ByteBuffer message);

  /**
   * Whether a process may still answer: false only if it has certainly ended. Returns at once, with
   * what was found out last.
   */
  boolean isAlive(ProcessAddress process);
}
