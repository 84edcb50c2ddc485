package org.ddstore.transport;

import org.ddstore.ReadPath;
import org.ddstore.memory.Segment;

/**
 * A segment that this process can read, with one reference to it.
 *
 * @param path how its rows are reached
 * @param reason why this path, for people
 */
public record Attachment(Segment segment, ReadPath path, String reason) {}
