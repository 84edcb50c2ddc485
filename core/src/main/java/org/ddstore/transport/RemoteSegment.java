// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * A segment that is read over a transport.
 *
 * @param nonce nonce of the segment
 * @param process process that serves it
 * @param rank rank that owns it
 * @param rows number of rows
 * @param recordBytes size of each record in bytes, or 0 for ragged records
 */
public record RemoteSegment(
    Nonce nonce, ProcessAddress process, int rank, long rows, int recordBytes) {}
