/** What a backend implements to serve rows to other processes and to read theirs. */
@Internal
package org.ddstore.transport;

import org.ddstore.types.Internal;
