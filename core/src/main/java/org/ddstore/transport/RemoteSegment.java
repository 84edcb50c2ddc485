package org.ddstore.transport;

import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * A segment in the memory of another process, or one that is to be read as if it were.
 *
 * @param process serves it
 * @param rank the owner
 * @param recordBytes of each record, or 0 if they are ragged
 */
public record RemoteSegment(
    Nonce nonce, ProcessAddress process, int rank, long rows, int recordBytes) {}
