// The headers of SDL 2, imported only where the package's trait SDL is on.

#pragma once

#if !__has_include(<SDL2/SDL.h>)
#error "The trait SDL needs SDL 2. On Debian: apt-get install libsdl2-dev"
#endif

// The program has a `main` of its own; SDL must not rename it.
#define SDL_MAIN_HANDLED
#include <SDL2/SDL.h>
