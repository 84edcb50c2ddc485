/** The interfaces of a transport, which serves rows to other processes and reads theirs. */
@Internal
package org.ddstore.transport;

import org.ddstore.types.Internal;
