// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import org.ddstore.types.ProcessAddress;

/**
 * A messenger between the processes of one group. Messages to one process arrive in the order in
 * which they were sent, as long as the connection lives. When it breaks, messages in flight can be
 * lost, and the next {@link #send} opens a new connection. All methods may be called by any thread.
 */
public interface Messenger {
  /** A receiver of messages. Called by threads that must not be blocked. */
  interface Receiver {
    /**
     * Handles a message. Messages of one process arrive one after the other. Sends at most a few
     * messages itself, and does not wait.
     *
     * @param message valid during the call only
     * @throws MalformedMessageException if the message is invalid: the caller closes the connection
     *     and logs the reason
     */
    void received(ByteBuffer message);

    /**
     * Handles the end of a connection: messages to and from the process can be lost. Also called if
     * no connection could be opened for a message.
     *
     * @param process process of the group
     */
    void disconnected(ProcessAddress process);
  }

  /** {@return the address at which the other processes reach this one} */
  ProcessAddress local();

  /**
   * Sets the receiver of messages; once, before the first message can arrive.
   *
   * @param receiver receiver of messages
   */
  void setReceiver(Receiver receiver);

  /**
   * Sends a message, without waiting for the other process. Failures of the network or of the other
   * process are not thrown: the message is lost, and the receiver is notified. Does nothing once
   * the messenger is closed.
   *
   * @param to may be this process
   * @param message at most 300,000 bytes from position to limit; the caller may reuse it once this
   *     method returns
   */
  void send(ProcessAddress to, ByteBuffer message);

  /**
   * {@return whether a process may still answer: false only if it has certainly ended} Returns at
   * once, with the result of the last check.
   *
   * @param process process of the group
   */
  boolean isAlive(ProcessAddress process);
}
